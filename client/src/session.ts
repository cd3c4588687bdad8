/** The life of the language server: start, stop, restart, and what is said when it dies. */

import { homedir } from "node:os";
import * as path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  type ErrorHandler,
  type ExecuteCommandSignature,
  LanguageClient,
  type LanguageClientOptions,
  type ProgressToken,
  RevealOutputChannelOn,
  WorkDoneProgressCancelNotification,
} from "vscode-languageclient/node";
import type { Interpreter } from "./core/interpreter";
import { initializationOptions, launch } from "./core/launch";
import { CancellableProgress, type Show } from "./core/progress";
import { RestartBudget } from "./core/restarts";
import { Serial } from "./core/serial";
import type { FileStatus } from "./core/status";
import { findInterpreter } from "./findInterpreter";
import { reportCommandFailure, reportNoInterpreter, reportServerFailure } from "./problems";
import type { ActiveEnvironment } from "./pythonExtension";
import { allSettings, SECTION, setting } from "./settings";
import type { StatusBar } from "./statusBar";

/** What a session needs; all of it outlives the session. */
export interface Surroundings {
  readonly extensionPath: string;
  readonly log: vscode.LogOutputChannel;
  readonly trace: vscode.LogOutputChannel;
  readonly statusBar: StatusBar;
  readonly environment: ActiveEnvironment;
}

/** Logs errors without showing them: each that matters is shown once, by the session, with the actions that help. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Session {
  private client: LanguageClient | undefined;
  private readonly jobs = new Serial();
  private readonly progress = new CancellableProgress(showNotification);
  private readonly budget = new RestartBudget(Date.now);
  private waitingRestart: Promise<void> | undefined;
  private abortStart: () => void = () => undefined;

  constructor(private readonly around: Surroundings) {}

  /** Stops the server if it runs and starts it again, unless `pallas.enable` is off. Joins a restart that waits. */
  restart(reason: string): Promise<void> {
    this.abortStart();
    this.waitingRestart ??= this.jobs.run(async () => {
      this.waitingRestart = undefined;
      this.around.log.info(`Starting: ${reason}`);
      await this.stopNow();
      if (setting<boolean>("enable") !== false) {
        this.budget.reset();
        await this.startNow();
      }
    });
    return this.waitingRestart;
  }

  stop(): Promise<void> {
    this.abortStart();
    return this.jobs.run(() => this.stopNow());
  }

  /** Asks the server to execute one of its commands. Throws an error fit to be shown when there is no server. */
  async execute<T>(command: string, ...args: readonly unknown[]): Promise<T> {
    if (this.client === undefined || !this.client.isRunning()) {
      throw new Error("the Pallas server is not running");
    }
    return this.client.sendRequest<T>("workspace/executeCommand", { command, arguments: args });
  }

  private async startNow(): Promise<void> {
    const choice = await findInterpreter(this.around.environment);
    if (choice.kind === "refused") {
      this.around.log.error(choice.message);
      reportNoInterpreter(choice.origin, choice.message);
      return;
    }
    const client = this.createClient(choice.interpreter);
    this.client = client;
    // A server that never answers must not block the restart that the user asks for because of it.
    const aborted = new Promise<void>((resolve) => {
      this.abortStart = resolve;
    });
    try {
      await Promise.race([client.start(), aborted]);
    } catch (error) {
      this.around.log.error(`The server did not start: ${String(error)}`);
      reportServerFailure("The Pallas server did not start. Its output is in the logs.");
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.forget();
    if (client === undefined || !client.needsStop()) {
      return; // It never started, or died by itself.
    }
    try {
      await client.dispose();
    } catch (error) {
      // It hangs, or was still starting; the client library ends the process after two seconds.
      this.around.log.warn(`The server did not stop in order: ${String(error)}`);
    }
  }

  /** What a server said that runs no more does not hold. */
  private forget(): void {
    this.around.statusBar.clear();
    this.progress.clear();
  }

  private cancel(token: ProgressToken): void {
    void this.client?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
  }

  private createClient(interpreter: Interpreter): LanguageClient {
    const launcher = path.join(this.around.extensionPath, "bundled", "run_server.py");
    const { command, args } = launch(interpreter, launcher);
    const version = interpreter.version.join(".");
    this.around.log.info(`Python ${version} (${interpreter.executable}): ${[command, ...args].join(" ")}`);
    // On Windows a bare program name is looked for in the current folder first: not in an untrusted workspace.
    const options = vscode.workspace.isTrusted ? {} : { cwd: homedir() };
    const client = new QuietClient(SECTION, "Pallas", { command, args, options }, this.clientOptions(interpreter));
    client.onNotification("pallas/status", (status: FileStatus) => this.around.statusBar.update(status));
    return client;
  }

  /** Changed settings and files reach the server as it registers for them; its questions the library answers. */
  private clientOptions(interpreter: Interpreter): LanguageClientOptions {
    return {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "untitled", language: "python" },
      ],
      outputChannel: this.around.log,
      traceOutputChannel: this.around.trace,
      stdioOptions: { stdout: logLines, stderr: logLines },
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      errorHandler: this.errorHandler(),
      initializationOptions: () => initializationOptions(allSettings(), interpreter, vscode.workspace.isTrusted),
      middleware: {
        executeCommand: reportFailure,
        handleWorkDoneProgress: (token, params, next) => {
          this.progress.handle(token, params, () => next(token, params), () => this.cancel(token));
        },
      },
    };
  }

  private errorHandler(): ErrorHandler {
    return {
      error: (_error, _message, count) => ({
        action: (count ?? 0) <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown,
        handled: true,
      }),
      closed: () => {
        this.forget();
        const wasRunning = this.client?.initializeResult !== undefined;
        if (!wasRunning) {
          return { action: CloseAction.DoNotRestart, handled: true }; // startNow reports it.
        }
        if (this.budget.spend()) {
          return { action: CloseAction.Restart, handled: true };
        }
        reportServerFailure("The Pallas server died four times within three minutes and was not started again.");
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    };
  }
}

function showNotification(...[title, ended, cancel, ready]: Parameters<Show>): void {
  const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
  void vscode.window.withProgress(options, (progress, cancellation) => {
    cancellation.onCancellationRequested(cancel);
    ready((step) => progress.report(step));
    return ended;
  });
}

/** Level info, for stderr is where a Python program logs; the library would call every line of it an error. */
function logLines(output: Readable, log: vscode.LogOutputChannel): void {
  createInterface({ input: output }).on("line", (line) => log.info(line));
}

/** For the server's own commands, such as those of code lenses: nobody else shows that one failed. */
async function reportFailure(command: string, args: unknown[], next: ExecuteCommandSignature): Promise<unknown> {
  try {
    return await next(command, args);
  } catch (error) {
    reportCommandFailure(`Pallas: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
