/** A webhook on loopback for tests: a TLS server that responds, or misbehaves, as each test specifies. */
import https from "node:https";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ResourceInterpreterWebhookConfiguration } from "@flotilla/karmada";
import type { JsonObject } from "@flotilla/base";
import { WebhookError } from "@flotilla/client";

interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The whole ResourceInterpreterContext. */
  context: JsonObject;
  /** Its request. */
  request: JsonObject;
}

export interface TestWebhook {
  port: number;
  url: string;
  /** Received requests, in order. */
  asked: Asked[];
  /** Number of connections opened to it. */
  connections(): number;
  stop(): Promise<void>;
}

export type Behaviour = (asked: Asked, response: ServerResponse) => void;

export async function serveWebhook(
  { certificate, key }: { certificate: string; key: string },
  behave: Behaviour,
): Promise<TestWebhook> {
  const asked: Asked[] = [];
  let connections = 0;
  const server = https.createServer({ cert: certificate, key }, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const context = JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject;
      const question = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        context,
        request: context["request"] as JsonObject,
      };
      asked.push(question);
      behave(question, response);
    });
  });
  server.on("secureConnection", () => connections++);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}/interpret`,
    asked,
    connections: () => connections,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Responds as a successful webhook. */
export const answering =
  (fields: JsonObject | ((request: JsonObject) => JsonObject)): Behaviour =>
  ({ request }, response) => {
    const answer = typeof fields === "function" ? fields(request) : fields;
    response.end(JSON.stringify({ response: { uid: request["uid"], successful: true, ...answer } }));
  };

type Webhook = ResourceInterpreterWebhookConfiguration["webhooks"][number];

/** A configuration with one webhook that matches every operation on Workloads, unless `settings` override it. */
export function makeConfiguration(
  name: string,
  settings: Partial<Webhook> & Pick<Webhook, "clientConfig">,
  annotations?: Record<string, string>,
): ResourceInterpreterWebhookConfiguration {
  return {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterWebhookConfiguration",
    metadata: { name, annotations },
    webhooks: [
      {
        name: "workloads.example.com",
        rules: [
          { operations: ["*"], apiGroups: ["workload.example.io"], apiVersions: ["v1alpha1"], kinds: ["Workload"] },
        ],
        interpreterContextVersions: ["v1alpha1"],
        ...settings,
      },
    ],
  };
}

/** The error of reading a response. */
export function failureOf(read: () => unknown): WebhookError {
  try {
    read();
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
