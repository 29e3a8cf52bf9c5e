/** How the hub serves a kind: its plural, which requests need. Asked once for each group and version. */
import { hub } from "./session.ts";

interface ServedKind {
  name: string;
  kind: string;
  namespaced: boolean;
}

const asked = new Map<string, Promise<readonly ServedKind[]>>();

export async function pluralOf(apiVersion: string, kind: string): Promise<string> {
  let list = asked.get(apiVersion);
  if (!list) {
    list = hub<{ resources: ServedKind[] }>(
      apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`,
    ).then(({ resources }) => resources);
    asked.set(apiVersion, list);
    list.catch(() => asked.delete(apiVersion));
  }
  const found = (await list).find((each) => each.kind === kind && !each.name.includes("/"));
  if (!found) throw new Error(`the hub does not serve ${kind} in ${apiVersion}`);
  return found.name;
}
