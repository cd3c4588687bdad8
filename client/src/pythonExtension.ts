/** The active environment of Microsoft's Python extension, where that extension is present. */

import { PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

export class ActiveEnvironment implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when the user selects another environment. */
  readonly onDidChange = this.changed.event;
  private readonly disposables: vscode.Disposable[] = [this.changed];
  private api: PythonExtension | undefined;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** The path of the environment's Python; undefined without the extension or without an environment. */
  async interpreter(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
    const api = await this.connect();
    if (api === undefined) {
      return undefined;
    }
    const active = api.environments.getActiveEnvironmentPath(folder?.uri);
    const environment = await api.environments.resolveEnvironment(active);
    return environment?.executable.uri?.fsPath;
  }

  private async connect(): Promise<PythonExtension | undefined> {
    if (this.api === undefined && vscode.extensions.getExtension(PVSC_EXTENSION_ID) !== undefined) {
      try {
        this.api = await PythonExtension.api();
        this.disposables.push(this.api.environments.onDidChangeActiveEnvironmentPath(() => this.changed.fire()));
      } catch (error) {
        this.log.warn(`The Python extension does not answer; looking for a Python on PATH: ${String(error)}`);
      }
    }
    return this.api;
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }
}
