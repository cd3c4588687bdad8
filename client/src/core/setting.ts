/** Reads the setting `pallas.interpreter`. */

export interface Variables {
  readonly workspaceFolder: string | undefined;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Joins a folder and a relative path, as `path.join` does. */
  readonly join: (folder: string, file: string) => string;
  readonly isAbsolute: (file: string) => boolean;
}

/**
 * The command that the setting names: a string is one program, an array a program and its arguments. Null, an empty
 * string and an empty array mean that it is not set.
 */
export function interpreterSetting(value: unknown, variables: Variables): readonly [string, ...string[]] | undefined {
  const parts = (Array.isArray(value) ? value : [value]).filter(
    (part): part is string => typeof part === "string" && part.trim() !== "",
  );
  const [program, ...rest] = parts.map((part) => replaceVariables(part.trim(), variables));
  return program === undefined ? undefined : [absoluteProgram(program, variables), ...rest];
}

function replaceVariables(text: string, variables: Variables): string {
  return text
    .replace(/^~(?=$|[\\/])/, () => variables.home)
    .replace(/\$\{userHome\}/g, () => variables.home)
    .replace(/\$\{workspaceFolder\}/g, (whole) => variables.workspaceFolder ?? whole)
    .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => variables.environment[name] ?? "");
}

/** A relative path is one of the workspace's; a bare name is looked up on PATH by the operating system. */
function absoluteProgram(program: string, variables: Variables): string {
  const isBareName = !/[\\/]/.test(program);
  if (isBareName || variables.isAbsolute(program) || variables.workspaceFolder === undefined) {
    return program;
  }
  return variables.join(variables.workspaceFolder, program);
}
