/** The commands that the extension adds to the palette. */

import * as vscode from "vscode";
import { type Context, confirmArguments, contextChoices, type Place, remoteChoices } from "./core/choices";
import { reportCommandFailure } from "./problems";
import type { Session } from "./session";
import { setting } from "./settings";

export function registerCommands(session: Session, log: vscode.LogOutputChannel): vscode.Disposable[] {
  const handlers: Record<string, () => unknown> = {
    "pallas.restart": () => session.restart("asked for"),
    "pallas.showLogs": () => log.show(),
    "pallas.confirmHere": () => atCursor((place) => confirm(session, place, undefined)),
    "pallas.confirmOn": () => atCursor((place) => confirmOn(session, place)),
    "pallas.pickContext": () => atCursor((place) => pickContext(session, place)),
  };
  return Object.entries(handlers).map(([command, handler]) => vscode.commands.registerCommand(command, handler));
}

/** Runs `action` on the cursor's place; says what is in the way when it fails. */
async function atCursor(action: (place: Place) => Promise<void>): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "python") {
    void vscode.window.showInformationMessage("Pallas: put the cursor into a kernel in a Python file first.");
    return;
  }
  try {
    await action({ uri: editor.document.uri.toString(), line: editor.selection.active.line });
  } catch (error) {
    reportCommandFailure(`Pallas: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The server shows progress, takes the cancel, and publishes the verdict. */
async function confirm(session: Session, place: Place, remote: string | undefined): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new Error("confirming runs the file's code, so the workspace must be trusted first");
  }
  await session.execute("pallas.confirm", confirmArguments(place, remote));
}

async function confirmOn(session: Session, place: Place): Promise<void> {
  const choices = remoteChoices(setting<unknown>("remotes"));
  const chosen = await vscode.window.showQuickPick(choices, { placeHolder: "Confirm on which machine?" });
  if (chosen !== undefined) {
    await confirm(session, place, chosen.remote);
  }
}

async function pickContext(session: Session, place: Place): Promise<void> {
  const contexts = await session.execute<Context[] | null>("pallas.listContexts", place);
  if (contexts === null || contexts.length === 0) {
    void vscode.window.showInformationMessage(
      "Pallas: no calling context is known for this function. A comment such as " +
        "`# pallas: example f(a: bf16[4096, 4096])` gives one.",
    );
    return;
  }
  const placeHolder = "Which calling context should hovers and hints speak of?";
  const chosen = await vscode.window.showQuickPick(contextChoices(contexts), { placeHolder });
  if (chosen !== undefined) {
    await session.execute("pallas.setContext", { ...place, id: chosen.id });
  }
}
