/**
 * A dry run on an API server that tries one request at a time, as every one of Kubernetes does: `dryRun=All` stores
 * nothing, so a request does not see the results of those before. What was tried is kept here: it is read back, and an object
 * in a namespace that would be created before it is taken as it was sent, without defaults and without validation.
 */
import { applyMergePatch, applyStrategicMergePatch, HUB, parseYaml } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { failureOf, readText } from "../members/ask.ts";
import type { DryResponse, SentRequest } from "./dry-response.ts";
import { strategicSchema } from "./strategic-schema.ts";

export interface SingleDryRuns {
  try(request: SentRequest): Promise<DryResponse>;
}

const WARNING = /299 \S+ "((?:[^"\\]|\\.)*)"/g;

export function createSingleDryRuns(hub: Pick<Client, "raw">, signal: AbortSignal): SingleDryRuns {
  /** Results by the path of the object. */
  const tried = new Map<string, JsonObject>();

  async function ask({ method, path, contentType = "application/json", body }: SentRequest): Promise<DryResponse> {
    const separator = path.includes("?") ? "&" : "?";
    const {
      status,
      headers,
      body: chunks,
    } = await hub.raw(
      {
        method,
        path: method === "GET" ? path : `${path}${separator}dryRun=All`,
        cluster: HUB,
        headers: { accept: "application/json", "content-type": contentType },
        ...defined({ body: body === undefined ? undefined : Buffer.from(body) }),
      },
      signal,
    );
    const text = await readText(chunks);
    const warnings = Array.from((headers["warning"] ?? "").matchAll(WARNING), ([, warning = ""]) =>
      warning.replace(/\\(.)/g, "$1"),
    );
    return { status, body: objectIn(status, text), warnings };
  }

  return {
    async try(sent) {
      const object = objectPath(sent);
      const known = tried.get(object);
      const request = withoutPatch(sent, known);
      const { method, body } = request;
      if (method === "GET") return known ? { status: 200, body: known } : ask(request);
      let answer = await ask(request);
      // Nothing was stored, so the server misses what this depends on: the object, its namespace, or its definition.
      if (answer.status === 404 && body !== undefined) {
        const namespace = namespaceIn(object);
        if (known || (namespace !== undefined && tried.has(`/api/v1/namespaces/${namespace}`)))
          answer = { status: known ? 200 : 201, body: asSent(request, known) };
      }
      if (answer.status >= 200 && answer.status < 300) tried.set(object, answer.body);
      return answer;
    },
  };
}

function objectIn(status: number, text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw failureOf(status, text);
}

/** The path of the object that a request is about; a create names it in its body. */
function objectPath({ method, path, body }: SentRequest): string {
  const plain = path.split("?", 1)[0] ?? "";
  if (method !== "POST" || body === undefined) return plain;
  const { metadata } = JSON.parse(body) as { metadata?: { name?: string } };
  return `${plain}/${encodeURIComponent(metadata?.name ?? "")}`;
}

/** As in the path of a Namespace, so still escaped. */
const namespaceIn = (path: string): string | undefined => /\/namespaces\/([^/]+)\/[^/]+\/[^/]+$/.exec(path)?.[1];

function asSent({ contentType = "", body = "" }: SentRequest, known: JsonObject | undefined): JsonObject {
  return { ...known, ...((contentType.includes("yaml") ? parseYaml(body) : JSON.parse(body)) as JsonObject) };
}

/** The server would apply a patch to what it has stored. */
function withoutPatch(request: SentRequest, known: JsonObject | undefined): SentRequest {
  const { path, contentType = "", body = "" } = request;
  if (!known || !contentType.includes("merge-patch")) return request;
  const patch = JSON.parse(body) as JsonObject;
  const { apiVersion, kind } = known as unknown as KubernetesObject;
  const patched = contentType.includes("strategic")
    ? applyStrategicMergePatch(known, patch, strategicSchema({ apiVersion, kind }) ?? {})
    : applyMergePatch(known, patch);
  return { method: "PUT", path, body: JSON.stringify(patched) };
}
