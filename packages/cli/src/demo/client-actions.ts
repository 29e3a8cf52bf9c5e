/**
 * Performs the demo's actions through our own client where kubectl is missing, and prints nearly what kubectl would.
 */
import type { Client } from "@flotilla/client";
import { createKindResolver } from "@flotilla/client";
import { formatApiVersion, HUB, parseYamlDocuments } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { Namespace } from "@flotilla/kubernetes";
import { FlotillaError } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { renderTable } from "../text-table.ts";
import type { DemoAction, Target } from "./actions.ts";
import { FILES } from "./manifests.ts";

const AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

interface Table {
  columnDefinitions: { name: string; priority: number }[];
  rows?: { cells: unknown[] }[];
}

export async function performWithClient(client: Client, action: DemoAction, signal: AbortSignal): Promise<string> {
  if (action.do === "apply") return applyFile(client, action.file, signal);
  if (action.do === "get") return getTable(client, action, signal);
  if (action.do === "create-namespace") {
    await client.create(
      Namespace,
      HUB,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: action.name } },
      { signal },
    );
    return `namespace/${action.name} created`;
  }
  const { kind } = action.target;
  if (action.do === "patch")
    await client.patch(kind, keyOf(action.target), action.patch as unknown as Json, { type: "json", signal });
  else
    await client.patch(
      kind,
      keyOf(action.target),
      { metadata: { annotations: { [action.annotation]: action.value ?? null } } },
      { type: "merge", signal },
    );
  return `${titleOf(action.target)} ${action.do === "patch" ? "patched" : "annotated"}`;
}

async function applyFile(client: Client, file: string, signal: AbortSignal): Promise<string> {
  const kinds = createKindResolver({ client, cluster: HUB });
  const lines: string[] = [];
  for (const document of parseYamlDocuments(FILES[file] ?? "")) {
    const object = document as unknown as KubernetesObject & JsonObject;
    const kind = await kinds.resolve(object);
    await client.apply(kind, HUB, object, { force: true, signal });
    lines.push(`${titleOf({ kind, name: object.metadata.name })} applied`);
  }
  return lines.join("\n");
}

async function getTable(
  client: Client,
  action: Extract<DemoAction, { do: "get" }>,
  signal: AbortSignal,
): Promise<string> {
  const { cluster, kind, namespace, selector, name } = action;
  const root = kind.group === "" ? "/api" : "/apis";
  const place = `${root}/${formatApiVersion(kind.group, kind.storageVersion)}/${namespace ? `namespaces/${namespace}/` : ""}`;
  const query = selector ? `?labelSelector=${encodeURIComponent(selector)}` : "";
  const path = `${place}${kind.plural}${name ? `/${name}` : ""}${query}`;
  const { status, body } = await client.raw({ method: "GET", cluster, path, headers: { accept: AS_TABLE } }, signal);
  const text = Buffer.concat(await Array.fromAsync(body)).toString();
  if (status !== 200)
    throw new FlotillaError("Demo", `reading ${kind.plural} of ${cluster}: the server returned ${status}`);
  const { columnDefinitions, rows = [] } = JSON.parse(text) as Table;
  const shown = columnDefinitions.flatMap(({ priority }, index) => (priority === 0 ? [index] : []));
  return renderTable(
    shown.map((index) => columnDefinitions[index]?.name.toUpperCase() ?? ""),
    rows.map(({ cells }) => shown.map((index) => cellText(cells[index]))),
  );
}

const cellText = (cell: unknown): string =>
  cell === null || cell === undefined ? "<none>" : typeof cell === "string" ? cell : JSON.stringify(cell);
const keyOf = ({ namespace, name }: Target): { cluster: string; namespace?: string; name: string } => ({
  cluster: HUB,
  namespace: namespace || undefined,
  name,
});
const titleOf = ({ kind: { kind, group }, name }: Target): string =>
  `${kind.toLowerCase()}${group ? `.${group}` : ""}/${name}`;
