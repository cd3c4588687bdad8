import * as vscode from "vscode";

export const SECTION = "pallas";

/** A setting by its name below `pallas.`, for the first folder of the workspace. */
export function setting<T>(name: string): T | undefined {
  return vscode.workspace.getConfiguration(SECTION, firstFolder()?.uri).get<T>(name);
}

/** All settings as plain data, in the shape that `workspace/configuration` answers for the section `pallas`. */
export function allSettings(): unknown {
  const settings: unknown = vscode.workspace.getConfiguration(undefined, firstFolder()?.uri).get(SECTION);
  return JSON.parse(JSON.stringify(settings ?? {}));
}

/** One server serves all folders; its interpreter is that of the first. */
export function firstFolder(): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.workspaceFolders?.[0];
}
