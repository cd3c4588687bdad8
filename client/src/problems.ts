/** Errors that stop the extension, each shown with the actions that help. */

import * as vscode from "vscode";
import type { Origin } from "./core/interpreter";
import { SECTION } from "./settings";

interface Action {
  readonly title: string;
  readonly command: string;
  readonly args?: readonly unknown[];
}

const SHOW_LOGS: Action = { title: "Show Logs", command: "pallas.showLogs" };
const RESTART: Action = { title: "Restart", command: "pallas.restart" };
const OPEN_SETTING: Action = {
  title: "Open Setting",
  command: "workbench.action.openSettings",
  args: [`${SECTION}.interpreter`],
};
const SELECT_INTERPRETER: Action = { title: "Select Interpreter", command: "python.setInterpreter" };

export function reportNoInterpreter(origin: Origin, message: string): void {
  show(message, origin === "pythonExtension" ? [SELECT_INTERPRETER, OPEN_SETTING] : [OPEN_SETTING]);
}

export function reportServerFailure(message: string): void {
  show(message, [SHOW_LOGS, RESTART]);
}

export function reportCommandFailure(message: string): void {
  show(message, [SHOW_LOGS]);
}

/** Not awaited by anyone: the message may stand for hours, and nothing waits for the answer. */
function show(message: string, actions: readonly Action[]): void {
  void vscode.window.showErrorMessage(message, ...actions.map((action) => action.title)).then((title) => {
    const action = actions.find((candidate) => candidate.title === title);
    return action && vscode.commands.executeCommand(action.command, ...(action.args ?? []));
  });
}
