/** Which Python runs the server: the candidates in order, and the check that one is new enough. */

export const MINIMUM_PYTHON: readonly [number, number] = [3, 11];

export type Origin = "setting" | "pythonExtension" | "path";

/** A command that should be a Python: the program and arguments that stand before Python's own. */
export interface Candidate {
  readonly command: readonly [string, ...string[]];
  readonly origin: Origin;
}

export interface Interpreter extends Candidate {
  /** `sys.executable`: what the command turned out to be. */
  readonly executable: string;
  readonly version: readonly [number, number, number];
}

export type ProbeResult =
  | { readonly executable: string; readonly version: readonly [number, number, number] }
  | { readonly failure: string };

export type Probe = (command: readonly [string, ...string[]]) => Promise<ProbeResult>;

export type Choice =
  | { readonly kind: "found"; readonly interpreter: Interpreter }
  | { readonly kind: "refused"; readonly origin: Origin; readonly message: string };

/** Where interpreters can come from; each absent source is simply passed over. */
export interface Sources {
  /** `pallas.interpreter`, with its variables replaced; undefined when not set. */
  readonly setting: readonly [string, ...string[]] | undefined;
  readonly activeEnvironment: string | undefined;
  /** Pythons found on PATH, as absolute paths. */
  readonly onPath: readonly string[];
  readonly trusted: boolean;
}

/**
 * The candidates, best first. What the user chose is final: with a setting or an active environment nothing else is
 * tried, since another Python would have another JAX. In an untrusted workspace the active environment is left out,
 * because it may be a program that lies in the workspace (the setting is then the user's own: VS Code restricts it).
 */
export function candidates(sources: Sources): Candidate[] {
  if (sources.setting !== undefined) {
    return [{ command: sources.setting, origin: "setting" }];
  }
  if (sources.trusted && sources.activeEnvironment) {
    return [{ command: [sources.activeEnvironment], origin: "pythonExtension" }];
  }
  return sources.onPath.map((file): Candidate => ({ command: [file], origin: "path" }));
}

/** The first candidate that is a Python of at least MINIMUM_PYTHON, or a message that says why none is. */
export async function chooseInterpreter(list: readonly Candidate[], probe: Probe): Promise<Choice> {
  const refusals: string[] = [];
  for (const candidate of list) {
    const result = await probe(candidate.command);
    if ("failure" in result) {
      refusals.push(`${candidate.command.join(" ")} could not be run (${result.failure})`);
    } else if (!isNewEnough(result.version)) {
      refusals.push(`${candidate.command.join(" ")} is Python ${result.version.join(".")}`);
    } else {
      return { kind: "found", interpreter: { ...candidate, ...result } };
    }
  }
  return { kind: "refused", origin: list[0]?.origin ?? "path", message: refusalMessage(list[0]?.origin, refusals) };
}

export function isNewEnough([major, minor]: readonly [number, number, number]): boolean {
  return major > MINIMUM_PYTHON[0] || (major === MINIMUM_PYTHON[0] && minor >= MINIMUM_PYTHON[1]);
}

const ORIGIN_NAMES: Record<Origin, string> = {
  setting: "The setting pallas.interpreter",
  pythonExtension: "The Python extension's active environment",
  path: "The Python on PATH",
};

function refusalMessage(origin: Origin | undefined, refusals: readonly string[]): string {
  const needed = `Pallas needs Python ${MINIMUM_PYTHON.join(".")} or newer.`;
  if (origin === undefined || refusals.length === 0) {
    return `${needed} None was found on PATH.`;
  }
  return `${needed} ${ORIGIN_NAMES[origin]}: ${refusals.join("; ")}.`;
}

/** What the probe asks a Python: its version and, on the second line, its path. Runs on every Python since 3.4. */
export const PROBE_ARGUMENTS: readonly string[] = [
  "-I",
  "-S",
  "-X",
  "utf8",
  "-c",
  "import sys; sys.stdout.write('%d %d %d\\n%s' % (tuple(sys.version_info[:3]) + (sys.executable,)))",
];

/** Reads the probe's output; wrappers such as `conda run` may print lines of their own before it. */
export function parseProbe(output: string): ProbeResult {
  const match = /(?:^|\n)(\d+) (\d+) (\d+)\r?\n([^\r\n]+)\s*$/.exec(output);
  if (match === null) {
    return { failure: `unexpected output: ${output.trim().slice(0, 200) || "none"}` };
  }
  return { version: [Number(match[1]), Number(match[2]), Number(match[3])], executable: match[4] as string };
}
