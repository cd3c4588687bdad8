/** What the quick picks offer, and the arguments that follow from the answer. */

/** An argument of the server's commands: a place in a file; `line` counts from 0, as in LSP. */
export interface Place {
  readonly uri: string;
  readonly line: number;
}

/** The argument of `pallas.confirm`; `remote` names an entry of `pallas.remotes`, and is absent for this machine. */
export interface ConfirmArguments extends Place {
  readonly way: "lower" | "remote";
  readonly remote?: string;
}

export interface RemoteChoice {
  readonly label: string;
  readonly description: string;
  readonly remote: string | undefined;
}

export const THIS_MACHINE: RemoteChoice = {
  label: "This machine",
  description: "lowers on the CPU, no GPU needed",
  remote: undefined,
};

/** This machine first, then the remotes by name with the command that reaches each. */
export function remoteChoices(remotes: unknown): RemoteChoice[] {
  const entries = typeof remotes === "object" && remotes !== null ? Object.entries(remotes) : [];
  const named = entries.map(([name, value]) => ({ label: name, description: prefixText(value), remote: name }));
  return [THIS_MACHINE, ...named.sort((a, b) => a.label.localeCompare(b.label))];
}

function prefixText(value: unknown): string {
  const prefix: unknown = Array.isArray(value) ? value : (value as { prefix?: unknown } | null)?.prefix;
  return Array.isArray(prefix) ? prefix.join(" ") : "not a command: see the setting pallas.remotes";
}

export function confirmArguments(place: Place, remote: string | undefined): ConfirmArguments {
  return remote === undefined ? { ...place, way: "lower" } : { ...place, way: "remote", remote };
}

/** One calling context, as `pallas.listContexts` answers. */
export interface Context {
  readonly id: string;
  readonly label: string;
  readonly description?: string | null;
  readonly active?: boolean;
}

export interface ContextChoice {
  readonly label: string;
  readonly description: string;
  readonly id: string;
}

export function contextChoices(contexts: readonly Context[]): ContextChoice[] {
  return contexts.map((context) => ({
    label: context.active ? `$(check) ${context.label}` : context.label,
    description: context.description ?? "",
    id: context.id,
  }));
}
