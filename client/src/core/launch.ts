/** The command line that starts the bundled server, and what it is told at the start. */

import type { Interpreter } from "./interpreter";

export interface Launch {
  readonly command: string;
  readonly args: string[];
}

/** Isolated (-I), without site-packages (-S), in UTF-8: see the bundled `run_server.py` for the reasons. */
const ISOLATION = ["-I", "-S", "-X", "utf8"];

export function launch(interpreter: Pick<Interpreter, "command">, launcher: string): Launch {
  const [command, ...before] = interpreter.command;
  return { command, args: [...before, ...ISOLATION, launcher, "server"] };
}

/** The `initializationOptions`; `settings` has the shape that `workspace/configuration` answers for `pallas`. */
export interface InitializationOptions {
  readonly settings: unknown;
  readonly interpreter: string;
  readonly trusted: boolean;
}

export function initializationOptions(
  settings: unknown,
  interpreter: Pick<Interpreter, "executable">,
  trusted: boolean,
): InitializationOptions {
  return { settings, interpreter: interpreter.executable, trusted };
}
