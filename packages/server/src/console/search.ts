/** Searches objects of the hub and pods of all members by name, label and image. */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject, messageOf, omitZero } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import { queryText, readJson, readText, resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Cluster } from "@flotilla/karmada";
import { labelsText, objectAt, objectsAt, reasonIn, textAt } from "./json-access.ts";
import type { ReadonlyObject } from "./json-access.ts";
import { memberPath } from "./member-path.ts";

const MAX_RESULTS = 200;
const PAGE = 500;
const MAX_PAGES = 20;
const LIMIT_MS = 4_000;

interface Hit {
  member: string;
  kind: string;
  namespace: string;
  name: string;
  /** What matched: the name, a label or an image. */
  by: string;
  detail: string;
}

/** Pods of all members whose name, labels or images contain the text. */
export async function searchFleet(client: Client, text: string, clock: Clock, outer: AbortSignal): Promise<Json> {
  const wanted = text.trim().toLowerCase();
  if (wanted.length < 2) return { hits: [], notes: [], total: 0 };
  const ending = new AbortController();
  const timer = clock.after(LIMIT_MS, () => ending.abort());
  const signal = AbortSignal.any([outer, ending.signal]);
  const hits: Hit[] = [];
  const notes: string[] = [];
  let total = 0;
  try {
    const { items } = await client.list(Cluster, { cluster: HUB, signal });
    await Promise.all(
      items.map(async ({ metadata: { name: member } }) => {
        try {
          const omit = (): void => void notes.push(`${member}: only the first ${PAGE * MAX_PAGES} pods were searched`);
          for await (const pod of podsOf(client, member, { signal, omit })) {
            const hit = match(member, pod, wanted);
            if (!hit) continue;
            total += 1;
            if (hits.length < MAX_RESULTS) hits.push(hit);
          }
        } catch (error) {
          outer.throwIfAborted();
          notes.push(`${member}: ${ending.signal.aborted ? "no answer in time" : messageOf(error)}`);
        }
      }),
    );
  } finally {
    timer.cancel();
  }
  hits.sort((a, b) => (`${a.member}/${a.namespace}/${a.name}` < `${b.member}/${b.namespace}/${b.name}` ? -1 : 1));
  return { hits: hits.map((hit) => ({ ...hit })), notes, total };
}

/** Calls `omit` when the member has more pods than are read. */
async function* podsOf(
  client: Client,
  member: string,
  { signal, omit }: { signal: AbortSignal; omit(): void },
): AsyncGenerator<ReadonlyObject> {
  const path = resourcePath({ cluster: HUB, group: "", version: "v1", resource: "pods" });
  let next = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: String(PAGE), ...omitZero({ continue: next }) };
    const { status, body } = await client.raw(
      {
        method: "GET",
        path: `${memberPath(member, path)}${queryText(query)}`,
        cluster: HUB,
        headers: { accept: "application/json" },
      },
      signal,
    );
    if (status !== 200) throw new FlotillaError("HubAnswer", reasonIn(await readText(body)));
    const list = await readJson(body);
    if (!isObject(list)) return;
    yield* objectsAt(list, "items");
    next = textAt(objectAt(list, "metadata"), "continue");
    if (next === "") return;
  }
  omit();
}

function match(member: string, pod: ReadonlyObject, wanted: string): Hit | undefined {
  const metadata = objectAt(pod, "metadata");
  const name = textAt(metadata, "name");
  const hit = { member, kind: "Pod", namespace: textAt(metadata, "namespace"), name };
  const images = objectsAt(objectAt(pod, "spec"), "containers").map((container) => textAt(container, "image"));
  const image = images.find((each) => each.toLowerCase().includes(wanted));
  if (image !== undefined) return { ...hit, by: "image", detail: image };
  if (name.toLowerCase().includes(wanted)) return { ...hit, by: "name", detail: images[0] ?? "" };
  const label = labelsText(objectAt(metadata, "labels")).find((each) => each.toLowerCase().includes(wanted));
  return label === undefined ? undefined : { ...hit, by: "label", detail: label };
}
