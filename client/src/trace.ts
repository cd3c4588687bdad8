/** Makes `pallas.trace.server` decide about the trace of messages. */

import * as vscode from "vscode";
import { SECTION, setting } from "./settings";

/**
 * A view of the log for the language client's trace. The client traces only where the channel's log level is Trace,
 * which an extension cannot set; this view derives its level from the setting and writes at level Info, so that
 * turning the setting on suffices.
 */
export function traceChannel(log: vscode.LogOutputChannel, disposables: vscode.Disposable[]): vscode.LogOutputChannel {
  const level = () => (setting<string>("trace.server") === "off" ? vscode.LogLevel.Info : vscode.LogLevel.Trace);
  const changed = new vscode.EventEmitter<vscode.LogLevel>();
  disposables.push(
    changed,
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SECTION}.trace.server`)) {
        changed.fire(level());
      }
    }),
  );
  // Over an empty object, since a proxy of a frozen one could not answer otherwise than the object itself.
  return new Proxy({} as vscode.LogOutputChannel, {
    get(_target, property) {
      switch (property) {
        case "logLevel":
          return level();
        case "onDidChangeLogLevel":
          return changed.event;
        case "trace":
          return (message: string, ...values: unknown[]) => log.info(message, ...values);
        default: {
          const value: unknown = Reflect.get(log, property);
          return typeof value === "function" ? value.bind(log) : value;
        }
      }
    },
  });
}
