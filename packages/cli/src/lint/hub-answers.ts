/**
 * Validates manifests with dry runs, on a temporary in-process hub or on a real one. So defaults, admission, unknown
 * fields and warnings about other forms are the real ones.
 */
import { CustomResourceDefinition, Namespace } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { isObject, nearestOf, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createKindResolver, PATCH_MEDIA_TYPES, resourcePath, UnknownKindError } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import { typesOfHub } from "../members/types-of-hub.ts";
import type { ServedType } from "../members/served-types.ts";
import type { Selections } from "./hub-selections.ts";
import type { LintManifest } from "./lint-manifest.ts";
import { DEFAULT_NAMESPACE } from "./selectors.ts";

export interface HubAnswer {
  /** Why the hub rejects it. */
  refusal?: string;
  /** The hub does not serve the kind; a similar one that it serves, or an empty text. */
  unknown?: { similar: string };
  /** Warnings, such as the canonical form of a shorthand. */
  warnings: readonly string[];
}

export interface HubAnswers {
  of(manifest: LintManifest): HubAnswer | undefined;
  /** Whether the hub was a real one. */
  readonly isReal: boolean;
  /** What policies select among the existing objects of a real hub; undefined without one. */
  readonly selections?: Selections;
  /** The members of a real hub; undefined without one. */
  readonly members?: readonly { name: string; labels: Readonly<Record<string, string>> }[];
}

const STRICT = { fieldManager: "kubectl", fieldValidation: "Strict" };
const DRY = { ...STRICT, dryRun: "All" };

/**
 * In the given order, except that prerequisites are tried first. On an in-process hub, namespaces and CRDs are really
 * created.
 */
export async function askHub(
  client: Client,
  manifests: readonly LintManifest[],
  { isReal, namespace }: { isReal: boolean; namespace: string },
  signal: AbortSignal,
): Promise<Map<LintManifest, HubAnswer>> {
  const answers = new Map<LintManifest, HubAnswer>();
  const kinds = createKindResolver({ client, cluster: HUB });
  const given = manifests.filter(({ inside }) => !inside);
  const made = new Set([DEFAULT_NAMESPACE]);
  let types: ServedType[] | undefined;
  const first = given.filter(isNeeded);
  for (const manifest of [...first, ...given.filter((each) => !isNeeded(each))]) {
    signal.throwIfAborted();
    const kind = await resolve(kinds, manifest);
    if (!kind) {
      types ??= await typesOfHub(client, signal);
      const group = types.filter((type) => type.group === manifest.group);
      const similar = nearestOf(manifest.kind, [
        ...new Set((group.length > 0 ? group : types).map((type) => type.kind)),
      ]);
      answers.set(manifest, { unknown: { similar: similar ?? "" }, warnings: [] });
      continue;
    }
    const where = kind.scope === "Namespaced" ? manifest.namespace || namespace : undefined;
    if (where !== undefined && !isReal && !made.has(where)) await makeNamespace(client, where, signal);
    if (where !== undefined) made.add(where);
    answers.set(
      manifest,
      await tryOut(client, kind, manifest, { namespace: where, isReal, isMade: !isReal && isNeeded(manifest) }, signal),
    );
  }
  return answers;
}

const isNeeded = ({ group, kind }: LintManifest): boolean =>
  (group === Namespace.group && kind === Namespace.kind) ||
  (group === CustomResourceDefinition.group && kind === CustomResourceDefinition.kind);

/** Group and version become part of the request path. */
const API_VERSION = /^(?:[a-z0-9.-]+\/)?[a-z][a-z0-9]*$/;

async function resolve(kinds: KindResolver, { object, kind }: LintManifest): Promise<Kind | undefined> {
  const { apiVersion } = object;
  if (typeof apiVersion !== "string" || !API_VERSION.test(apiVersion)) return undefined;
  try {
    return await kinds.resolve({ apiVersion, kind });
  } catch (error) {
    if (error instanceof UnknownKindError) return undefined;
    throw error;
  }
}

async function makeNamespace(client: Client, name: string, signal: AbortSignal): Promise<void> {
  await send(client, {
    method: "POST",
    path: resourcePath({ cluster: HUB, group: "", version: "v1", resource: "namespaces" }),
    body: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    signal,
  });
}

interface Trial {
  /** Undefined for cluster-scoped objects. */
  namespace: string | undefined;
  isReal: boolean;
  /** Other manifests need it, so it is not a dry run. */
  isMade: boolean;
}

/**
 * Warnings to ignore: an in-process hub without running controllers has no members, and lacks the default set binding
 * of every namespace.
 */
const OF_EMPTY_HUB = ["no joined cluster is named", "has no ManagedClusterSetBinding"];

async function tryOut(
  client: Client,
  kind: Kind,
  { object, name }: LintManifest,
  { namespace, isReal, isMade }: Trial,
  signal: AbortSignal,
): Promise<HubAnswer> {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const body: JsonObject = { ...object, metadata: { ...metadata, ...defined({ namespace }) } };
  const path = { cluster: HUB, group: kind.group, version: kind.storageVersion, resource: kind.plural, namespace };
  const query = `?${new URLSearchParams(isMade ? STRICT : DRY).toString()}`;
  const created = await send(client, { method: "POST", path: resourcePath(path) + query, body, signal });
  // On a real hub the object is compared with what it would become.
  const answer =
    created.status === 409 && created.reason === "AlreadyExists"
      ? await send(client, {
          method: "PATCH",
          path: `${resourcePath({ ...path, name })}${query}&force=true`,
          body,
          contentType: PATCH_MEDIA_TYPES.apply,
          signal,
        })
      : created;
  const { status, message } = answer;
  const warnings = isReal
    ? answer.warnings
    : answer.warnings.filter((text) => !OF_EMPTY_HUB.some((part) => text.includes(part)));
  return status < 300 || (isMade && status === 409) ? { warnings } : { refusal: message, warnings };
}

interface Sent {
  method: string;
  path: string;
  body: JsonObject;
  contentType?: string;
  signal: AbortSignal;
}

async function send(
  client: Client,
  sent: Sent,
): Promise<{ status: number; reason: string; message: string; warnings: string[] }> {
  const { method, path, body, contentType = "application/json", signal } = sent;
  const response = await client.raw(
    {
      method,
      path,
      cluster: HUB,
      headers: { "content-type": contentType, accept: "application/json" },
      body: new TextEncoder().encode(JSON.stringify(body)),
    },
    signal,
  );
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const warnings = readWarnings(response.headers["warning"]);
  if (response.status < 300) return { status: response.status, reason: "", message: "", warnings };
  const answer = readStatus(Buffer.concat(chunks).toString());
  return {
    status: response.status,
    reason: answer.reason ?? "",
    message: answer.message ?? `the hub returned ${response.status}`,
    warnings,
  };
}

function readStatus(text: string): { reason?: string; message?: string } {
  if (!text.startsWith("{")) return { message: text.trim() };
  return JSON.parse(text) as { reason?: string; message?: string };
}

/** `299 - "text"`; each byte of the text's UTF-8 is one character of the header. */
function readWarnings(header: string | readonly string[] | undefined): string[] {
  const text = Buffer.from(typeof header === "string" ? header : (header ?? []).join(", "), "latin1").toString("utf8");
  return Array.from(text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g), ([, quoted = ""]) =>
    quoted.replaceAll(/\\(.)/g, "$1"),
  );
}
