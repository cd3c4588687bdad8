/** Looks for Pythons on PATH. */

/** In the order tried. The plain names come first: they are what the user gets in a terminal. */
const NAMES = ["python3", "python", "python3.13", "python3.12", "python3.14", "python3.11"];

export interface PathSearch {
  readonly path: string;
  readonly windows: boolean;
  readonly isExecutable: (file: string) => boolean;
}

/**
 * Every Python on PATH, as absolute paths, without duplicates. Searched here rather than by the operating system
 * because Windows looks into the current folder first, which is the workspace. Relative entries of PATH are left out
 * for the same reason.
 */
export function pythonsOnPath(search: PathSearch): string[] {
  const folders = search.path.split(search.windows ? ";" : ":").filter((entry) => isAbsolute(entry, search.windows));
  const separator = search.windows ? "\\" : "/";
  const suffix = search.windows ? ".exe" : "";
  const files = NAMES.flatMap((name) => folders.map((folder) => `${trimEnd(folder)}${separator}${name}${suffix}`));
  return [...new Set(files)].filter((file) => search.isExecutable(file));
}

function isAbsolute(entry: string, windows: boolean): boolean {
  return windows ? /^([A-Za-z]:[\\/]|\\\\)/.test(entry) : entry.startsWith("/");
}

function trimEnd(folder: string): string {
  return folder.replace(/[\\/]+$/, "");
}
