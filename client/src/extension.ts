import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { ActiveEnvironment } from "./pythonExtension";
import { Session } from "./session";
import { SECTION } from "./settings";
import { StatusBar } from "./statusBar";
import { traceChannel } from "./trace";

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Pallas", { log: true });
  const statusBar = new StatusBar();
  const environment = new ActiveEnvironment(log);
  const trace = traceChannel(log, context.subscriptions);
  const current = new Session({ extensionPath: context.extensionPath, log, trace, statusBar, environment });
  session = current;
  context.subscriptions.push(
    log,
    statusBar,
    environment,
    ...registerCommands(current, log),
    environment.onDidChange(() => current.restart("the active Python environment changed")),
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart("the workspace is trusted now")),
    vscode.workspace.onDidChangeConfiguration((event) => restartIfNeeded(event, current)),
  );
  await current.restart("the extension was activated");
}

export function deactivate(): Promise<void> | undefined {
  return session?.stop();
}

/** Of all other settings the running server learns by itself (`workspace/didChangeConfiguration`). */
function restartIfNeeded(event: vscode.ConfigurationChangeEvent, current: Session): void {
  if (["enable", "interpreter"].some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) {
    void current.restart("its settings changed");
  }
}
