/** Collects the sources of interpreters from the editor and the machine, and chooses one. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import {
  type Choice,
  candidates,
  chooseInterpreter,
  PROBE_ARGUMENTS,
  type Probe,
  type ProbeResult,
  parseProbe,
} from "./core/interpreter";
import { pythonsOnPath } from "./core/pathSearch";
import { interpreterSetting } from "./core/setting";
import type { ActiveEnvironment } from "./pythonExtension";
import { firstFolder, setting } from "./settings";

/** Generous, for `conda run` takes seconds; a hung program must not keep the extension from saying so. */
const PROBE_TIMEOUT_MS = 30_000;

export async function findInterpreter(environment: ActiveEnvironment): Promise<Choice> {
  const folder = firstFolder();
  const trusted = vscode.workspace.isTrusted;
  const chosen = interpreterSetting(setting<unknown>("interpreter"), {
    workspaceFolder: folder?.uri.fsPath,
    home: homedir(),
    environment: process.env,
    join: path.join,
    isAbsolute: path.isAbsolute,
  });
  const needsEnvironment = chosen === undefined && trusted;
  const list = candidates({
    setting: chosen,
    activeEnvironment: needsEnvironment ? await environment.interpreter(folder) : undefined,
    onPath: pythonsOnPath({
      path: process.env["PATH"] ?? "",
      windows: process.platform === "win32",
      isExecutable,
    }),
    trusted,
  });
  return chooseInterpreter(list, probe);
}

/** Runs in the home folder: the workspace's files must have no part in the answer. */
const probe: Probe = ([program, ...before]) =>
  new Promise<ProbeResult>((resolve) => {
    const options = { cwd: homedir(), timeout: PROBE_TIMEOUT_MS, windowsHide: true, encoding: "utf8" as const };
    execFile(program, [...before, ...PROBE_ARGUMENTS], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(parseProbe(stdout));
      } else if (error.killed) {
        resolve({ failure: `no answer within ${PROBE_TIMEOUT_MS / 1000} s` });
      } else {
        resolve({ failure: stderr.trim().split("\n").at(-1) || error.message });
      }
    });
  });

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // Absent, or not ours to run: either way no candidate.
  }
}
