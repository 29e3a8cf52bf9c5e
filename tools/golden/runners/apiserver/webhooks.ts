/** The webhooks of recorded scenarios: one TLS server that behaves as each scenario says and notes what it was asked. */
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { startWebhookServer } from "@flotilla/testing/webhook-server.ts";
import type { WebhookAnswer } from "@flotilla/testing/webhook-server.ts";
import type { WebhookBehaviour } from "./scenario.ts";

export interface PlayWebhooks {
  readonly url: string;
  /** Base64-encoded PEM. */
  readonly caBundle: string;
  /** The webhooks of a scenario have the namespace as the first segment of their path. */
  serve(namespace: string, behaviours: Readonly<Record<string, WebhookBehaviour>>): void;
  /** What a webhook was asked since the last time. */
  take(namespace: string, path: string): Json[];
  close(): void;
}

interface Served {
  readonly behaviours: Readonly<Record<string, WebhookBehaviour>>;
  readonly calls: Map<string, JsonObject[]>;
}

export async function startPlayWebhooks(): Promise<PlayWebhooks> {
  const scenarios = new Map<string, Served>();
  const { url, caBundle, close } = await startWebhookServer((path, review) => answer(scenarios, path, review));
  return {
    url,
    caBundle,
    serve: (namespace, behaviours) => void scenarios.set(namespace, { behaviours, calls: new Map() }),
    take(namespace, path) {
      const calls = scenarios.get(namespace)?.calls.get(path) ?? [];
      scenarios.get(namespace)?.calls.delete(path);
      return calls;
    },
    close,
  };
}

async function answer(
  scenarios: ReadonlyMap<string, Served>,
  path: string,
  review: JsonObject,
): Promise<WebhookAnswer> {
  const [, namespace = "", ...rest] = path.split("/");
  const hook = `/${rest.join("/")}`;
  const scenario = scenarios.get(namespace);
  const behaviour = scenario?.behaviours[hook];
  if (!behaviour) return { status: 404, body: "no such webhook" };
  const calls = scenario.calls.get(hook) ?? [];
  calls.push(review);
  scenario.calls.set(hook, calls);
  if (behaviour.delayMs !== undefined) await sleep(behaviour.delayMs);
  if (behaviour.httpStatus !== undefined)
    return { status: behaviour.httpStatus, type: "text/plain", body: behaviour.text ?? "" };
  return { body: behaviour.raw ?? JSON.stringify(reviewed(review, behaviour, namespace, calls.length)) };
}

function reviewed(review: JsonObject, behaviour: WebhookBehaviour, namespace: string, call: number): JsonObject {
  const { apiVersion = "", kind = "" } = review;
  const request = review.request as JsonObject;
  if (kind === "ConversionReview") return { apiVersion, kind, response: convert(request, behaviour) };
  const response: JsonObject = {
    uid: request.uid ?? "",
    allowed: true,
    ...(JSON.parse(JSON.stringify(behaviour.response ?? {}).replaceAll("{{NS}}", namespace)) as JsonObject),
  };
  if (behaviour.patchOnce && call > 1) delete response.patch;
  if (response.patch !== undefined) {
    response.patch = Buffer.from(JSON.stringify(response.patch)).toString("base64");
    response.patchType ??= "JSONPatch";
  }
  return { apiVersion, kind, response };
}

function convert({ uid = "", objects, desiredAPIVersion }: JsonObject, behaviour: WebhookBehaviour): JsonObject {
  if (behaviour.fail !== undefined) return { uid, result: { status: "Failure", message: behaviour.fail } };
  const to = desiredAPIVersion as string;
  const converted = (objects as JsonObject[]).map((object) => {
    const result: JsonObject = { ...structuredClone(object), apiVersion: to };
    for (const change of behaviour.convert?.[`${versionOf(object.apiVersion as string)}->${versionOf(to)}`] ?? []) {
      if (change.move) {
        const [from, into] = change.move;
        const value = valueAt(result, from);
        put(result, from, undefined);
        if (value !== undefined) put(result, into, value);
      }
      if (change.set) put(result, ...change.set);
      if (change.remove !== undefined) put(result, change.remove, undefined);
    }
    return result;
  });
  return { uid, result: { status: "Success" }, convertedObjects: converted };
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf("/") + 1);

function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const key of path.split(".")) value = isObject(value) ? value[key] : undefined;
  return value;
}

function put(object: JsonObject, path: string, value: Json | undefined): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let parent = object;
  for (const key of keys) parent = isObject(parent[key]) ? parent[key] : (parent[key] = {});
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
}
