/** The default data directory of a fleet, and the well-known files in it. */
import { join } from "node:path";

export function defaultDataDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home =
    environment["FLOTILLA_HOME"] ?? join(environment["HOME"] ?? environment["USERPROFILE"] ?? ".", ".flotilla");
  return home;
}

/** The log of `flotilla up`; older lines are in `.1` and `.2`. */
/** Names the snapshot that was saved last; its mtime is the time of that snapshot. */
export function lastSnapshotPath(data: string): string {
  return join(data, "last-snapshot");
}

export function logPath(data: string): string {
  return join(data, "flotilla.log");
}

export function kubeconfigPath(data: string, cluster: string): string {
  return join(data, `${cluster}.kubeconfig`);
}
