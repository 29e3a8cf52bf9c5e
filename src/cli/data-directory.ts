/** Where a fleet keeps its state when nothing else is said, and the files that others look for in it. */
import { join } from "node:path";

export function defaultDataDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const home =
    environment["FLOTILLA_HOME"] ?? join(environment["HOME"] ?? environment["USERPROFILE"] ?? ".", ".flotilla");
  return home;
}

/** What `flotilla up` writes about itself; older lines are in `.1` and `.2`. */
/** Names the snapshot that was saved last; when it was written is when that was. */
export function lastSnapshotPath(data: string): string {
  return join(data, "last-snapshot");
}

export function logPath(data: string): string {
  return join(data, "flotilla.log");
}

export function kubeconfigPath(data: string, cluster: string): string {
  return join(data, `${cluster}.kubeconfig`);
}
