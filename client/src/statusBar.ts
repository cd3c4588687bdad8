/** The status bar item: how much of the file in front was checked. */

import * as vscode from "vscode";
import { type FileStatus, statusText } from "./core/status";

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("pallas.status", vscode.StatusBarAlignment.Right, 90);
  private readonly statuses = new Map<string, FileStatus>();
  private readonly listeners = [
    vscode.window.onDidChangeActiveTextEditor(() => this.refresh()),
    vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri)),
  ];

  constructor() {
    this.item.name = "Pallas";
    this.item.command = "pallas.pickContext";
  }

  update(status: FileStatus): void {
    // Parsed and printed again, since the server may escape a URI otherwise than VS Code does.
    this.statuses.set(vscode.Uri.parse(status.uri).toString(), status);
    this.refresh();
  }

  /** Forgets everything: the server has stopped, and what it said may no longer hold. */
  clear(): void {
    this.statuses.clear();
    this.refresh();
  }

  private forget(uri: vscode.Uri): void {
    this.statuses.delete(uri.toString());
    this.refresh();
  }

  private refresh(): void {
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    const shown = statusText(uri === undefined ? undefined : this.statuses.get(uri));
    if (shown === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = shown.text;
    this.item.tooltip = shown.tooltip;
    this.item.show();
  }

  dispose(): void {
    vscode.Disposable.from(this.item, ...this.listeners).dispose();
  }
}
