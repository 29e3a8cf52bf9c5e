/** The webhooks of recorded scenarios: one TLS server that behaves as each scenario says and notes what it was asked. */
import https from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import { isObject, systemClock } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
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
  const authority = await createCertificateAuthority({ clock: systemClock });
  const { certificate, key } = await authority.issueServing(["127.0.0.1", "localhost"]);
  const scenarios = new Map<string, Served>();
  const server = https.createServer({ cert: certificate, key }, (request, response) => {
    void answer(scenarios, request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    serve: (namespace, behaviours) => void scenarios.set(namespace, { behaviours, calls: new Map() }),
    take(namespace, path) {
      const calls = scenarios.get(namespace)?.calls.get(path) ?? [];
      scenarios.get(namespace)?.calls.delete(path);
      return calls;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(
  scenarios: ReadonlyMap<string, Served>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, namespace = "", ...rest] = new URL(request.url ?? "", "https://webhook").pathname.split("/");
  const path = `/${rest.join("/")}`;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const scenario = scenarios.get(namespace);
  const behaviour = scenario?.behaviours[path];
  if (!behaviour) return void response.writeHead(404).end("no such webhook");
  const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
  const calls = scenario.calls.get(path) ?? [];
  calls.push(review);
  scenario.calls.set(path, calls);
  if (behaviour.delayMs !== undefined) await sleep(behaviour.delayMs);
  if (behaviour.httpStatus !== undefined)
    return void response.writeHead(behaviour.httpStatus, { "content-type": "text/plain" }).end(behaviour.text ?? "");
  response.writeHead(200, { "content-type": "application/json" });
  response.end(behaviour.raw ?? JSON.stringify(reviewed(review, behaviour, namespace, calls.length)));
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
  const to = String(desiredAPIVersion);
  const converted = (objects as JsonObject[]).map((object) => {
    const result: JsonObject = { ...structuredClone(object), apiVersion: to };
    for (const change of behaviour.convert?.[`${versionOf(String(object.apiVersion))}->${versionOf(to)}`] ?? []) {
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
  for (const key of keys) parent = (isObject(parent[key]) ? parent[key] : (parent[key] = {})) as JsonObject;
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
}
