/**
 * `kubectl port-forward` to simulated pods. Nothing runs there, so a declared port answers by itself: an HTTP request gets a
 * page that names the pod and the port, anything else gets its own bytes back. Other ports refuse the connection.
 */
import { FlotillaError } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly, JsonObject } from "@flotilla/base";

export interface ForwardedConnection {
  readonly input: AsyncIterable<Uint8Array>;
  output(chunk: Uint8Array): Promise<void>;
}

const HTTP_REQUEST = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \S+ HTTP\/1\.[01]\r?\n/;
/** The head of an HTTP request; more without an empty line is not one. */
const MAX_HEAD_BYTES = 16 * 1024;

export async function forwardPort(
  target: { namespace: string; pod: DeepReadonly<JsonObject> },
  port: number,
  { input, output }: ForwardedConnection,
): Promise<void> {
  const pod = target.pod as unknown as DeepReadonly<Pod>;
  const { name } = pod.metadata;
  const isDeclared = pod.spec.containers.some(({ ports = [] }) =>
    ports.some(({ containerPort, protocol = "TCP" }) => containerPort === port && protocol === "TCP"),
  );
  if (pod.status?.phase !== "Running")
    throw new FlotillaError("SimulatedPod", `pod ${target.namespace}/${name} is not running`);
  if (!isDeclared)
    throw new FlotillaError(
      "SimulatedPod",
      `failed to connect to port ${port} of pod ${target.namespace}/${name}: connection refused: simulated, and no container declares the port`,
    );
  let head = "";
  let isHttp: boolean | undefined;
  for await (const chunk of input) {
    if (isHttp === false) {
      await output(chunk);
      continue;
    }
    head += Buffer.from(chunk).toString("latin1");
    isHttp = looksLikeHttp(head);
    if (isHttp === false) await output(Buffer.from(head, "latin1"));
    else if (/\r?\n\r?\n/.test(head)) {
      await output(Buffer.from(page(head, `simulated: pod ${target.namespace}/${name}, port ${port}\n`)));
      return;
    }
  }
}

/** Undefined while it may still become one. */
function looksLikeHttp(head: string): boolean | undefined {
  if (HTTP_REQUEST.test(head)) return head.length <= MAX_HEAD_BYTES;
  return head.includes("\n") || head.length > MAX_HEAD_BYTES || !/^[A-Z]/.test(head) ? false : undefined;
}

function page(head: string, text: string): string {
  const body = head.startsWith("HEAD") ? "" : text;
  return `HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${body}`;
}
