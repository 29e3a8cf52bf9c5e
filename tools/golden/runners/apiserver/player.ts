/** Plays one scenario: sends its requests in order, keeps its watches open, and compares every response. */
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, omitZero, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { compareAnswer } from "./compare-answer.ts";
import { Bindings, UnknownValueError } from "./placeholders.ts";
import { contains, reduce } from "./reduce.ts";
import type { Answer, RecordedRequest, Scenario, Step } from "./scenario.ts";
import type { HttpRequest, PlayServer } from "./server.ts";
import { openWatch } from "./watch.ts";
import type { OpenWatch } from "./watch.ts";

const KEPT_HEADERS = new Set(["content-type", "warning", "location", "retry-after", "etag", "cache-control", "allow"]);
const POLL_MS = 60;
const UNTIL_MS = 30_000;
/** A new namespace has its service account well before this. */
const SETUP_MS = 5000;
/** How often a request is retried when the server is not ready for it yet. */
const MAX_RETRIES = 15;
const RETRY_MS = 400;
const IN_FORCE_MS = 40;

/**
 * Describes the difference from the recording; undefined if there is none. `namespace` must be new and have six
 * characters.
 */
export async function playScenario(
  server: PlayServer,
  scenario: Scenario,
  namespace: string,
): Promise<string | undefined> {
  const { url, caBundle } = server.webhooks;
  const bindings = new Bindings([
    ["NS", namespace],
    ["WEBHOOK", `${url}/${namespace}`],
    ["CABUNDLE", caBundle],
  ]);
  server.webhooks.serve(namespace, scenario.webhooks ?? {});
  const watches = new Map<string, OpenWatch>();
  const created: string[] = [];
  try {
    await prepare(server, scenario, namespace);
    for (const [index, step] of scenario.steps.entries()) {
      if (step.sleepMs !== undefined) {
        // Webhooks and policies are in force here within moments of their write; the real server polls.
        await sleep(scenario.webhooks ? IN_FORCE_MS : step.sleepMs);
        continue;
      }
      const answer = await answerOf(server, step, bindings, watches, created);
      const difference = compareStep(step, answer, bindings);
      if (difference !== undefined) return `step ${index}, ${titleOf(step)}: ${difference}`;
    }
    return undefined;
  } finally {
    for (const watch of watches.values()) watch.close();
    // Objects outside of the scenario's namespace would interfere with others.
    for (const path of created.toReversed())
      await administer(server, "DELETE", path, {
        apiVersion: "v1",
        kind: "DeleteOptions",
        gracePeriodSeconds: 0,
        propagationPolicy: "Background",
      });
  }
}

function compareStep({ want, wantAnyOf }: Step, answer: Answer, bindings: Bindings): string | undefined {
  let first: string | undefined;
  for (const wanted of wantAnyOf ?? (want ? [want] : [])) {
    const attempt = bindings.copy();
    const difference = compareAnswer(wanted, answer, attempt);
    if (difference === undefined) {
      bindings.take(attempt);
      return undefined;
    }
    first ??= difference;
  }
  return first;
}

async function prepare(server: PlayServer, { setup = "namespace" }: Scenario, namespace: string): Promise<void> {
  if (setup === "none") return;
  const { status, body } = await administer(server, "POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace },
  });
  if (status !== 201)
    throw new Error(`the namespace ${namespace} could not be created: ${status} ${JSON.stringify(body)}`);
  if (setup !== "pod") return;
  for (const path of ["serviceaccounts/default", "configmaps/kube-root-ca.crt"]) {
    const deadline = Date.now() + SETUP_MS;
    while ((await administer(server, "GET", `/api/v1/namespaces/${namespace}/${path}`)).status !== 200) {
      if (Date.now() > deadline) throw new Error(`${path} did not appear in namespace ${namespace}`);
      await sleep(POLL_MS);
    }
  }
}

async function administer(
  server: PlayServer,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<{ status: number; body: Json | undefined }> {
  const bytes = body && Buffer.from(JSON.stringify(body));
  const headers = {
    "User-Agent": "golden-setup/1.0",
    Accept: "application/json",
    ...defined({
      "Content-Type": bytes ? "application/json" : undefined,
      "Content-Length": bytes ? String(bytes.length) : undefined,
    }),
  };
  const response = await server.send({ method, path, headers, body: bytes });
  const text = (await readAll(response)).toString();
  return { status: response.statusCode ?? 0, body: text.startsWith("{") ? (JSON.parse(text) as Json) : undefined };
}

async function answerOf(
  server: PlayServer,
  step: Step,
  bindings: Bindings,
  watches: Map<string, OpenWatch>,
  created: string[],
): Promise<Answer> {
  if (step.read !== undefined) {
    const watch = watches.get(step.read);
    if (!watch) return { headers: {}, text: `the watch ${step.read} is not open` };
    return { headers: {}, ...(await watch.take(step)) };
  }
  if (step.calls !== undefined)
    return { headers: {}, calls: server.webhooks.take(bindings.get("NS") ?? "", step.calls) };
  if (!step.request) throw new Error("this runner does not know this kind of step");
  const deadline = Date.now() + (step.withinMs ?? UNTIL_MS);
  for (;;) {
    let request: HttpRequest;
    try {
      request = buildRequest(step.request, bindings);
    } catch (error) {
      if (!(error instanceof UnknownValueError)) throw error;
      return { status: 0, headers: {}, text: error.message };
    }
    const response = await sendWithRetries(server, request, step);
    if (step.request.watch !== undefined && response.statusCode === 200) {
      watches.set(step.request.watch, openWatch(response));
      return { status: 200, headers: headersOf(response) };
    }
    const { answer, whole } = readAnswer(response, await readAll(response), step, bindings);
    noteCreated(request, answer, whole, created);
    const { until } = step;
    if (
      !until ||
      ((until.status ?? answer.status) === answer.status &&
        (until.body === undefined || contains(bindings.fillJson(until.body), whole)))
    )
      return answer;
    if (Date.now() > deadline) return { ...answer, waitedInVain: true };
    await sleep(POLL_MS);
  }
}

/** A server that is still setting up a new kind may request a retry; clients wait and try again. */
async function sendWithRetries(
  server: PlayServer,
  request: HttpRequest,
  { until, request: recorded, want }: Step,
): Promise<IncomingMessage> {
  for (let attempt = 0; ; attempt++) {
    const response = await server.send(request);
    const asksToWait =
      response.statusCode === 503 || (response.statusCode === 429 && response.headers["retry-after"] === "1");
    if (
      !asksToWait ||
      until ||
      recorded?.watch !== undefined ||
      want?.status === response.statusCode ||
      attempt === MAX_RETRIES
    )
      return response;
    await readAll(response);
    await sleep(RETRY_MS);
  }
}

function noteCreated(
  { method, path }: HttpRequest,
  { status }: Answer,
  whole: Json | undefined,
  created: string[],
): void {
  if (
    status !== 201 ||
    /\/namespaces\/[^/]+\/./.test(path) ||
    !isObject(whole) ||
    !isObject(whole.metadata) ||
    typeof whole.metadata.name !== "string"
  )
    return;
  const [base = ""] = path.split("?");
  created.push(method === "POST" ? `${base.replace(/\/$/, "")}/${encodeURIComponent(whole.metadata.name)}` : base);
}

function buildRequest(recorded: RecordedRequest, bindings: Bindings): HttpRequest {
  const headers: Record<string, string | string[]> = { "User-Agent": "golden/1.0", Accept: "application/json" };
  for (const [name, value] of Object.entries(recorded.headers ?? {})) {
    if (value === null) delete headers[name];
    else headers[name] = bindings.fill(value);
  }
  if (recorded.auth !== undefined && recorded.auth !== "none")
    headers.Authorization = `Bearer ${bindings.fill(recorded.auth)}`;
  const user = recorded.user && bindings.fillJson(recorded.user);
  if (user?.name !== undefined) headers["Impersonate-User"] = user.name;
  if (user?.groups) headers["Impersonate-Group"] = user.groups;
  if (user?.uid !== undefined) headers["Impersonate-Uid"] = user.uid;
  for (const [key, values] of Object.entries(user?.extra ?? {})) headers[`Impersonate-Extra-${key}`] = values;
  const body = bodyOf(recorded, bindings);
  if (body) {
    if (!Object.keys(headers).some((name) => name.toLowerCase() === "content-type"))
      headers["Content-Type"] = "application/json";
    headers["Content-Length"] = String(body.length);
  }
  return {
    method: recorded.method,
    path: bindings.fill(recorded.path),
    headers,
    anonymous: recorded.auth !== undefined,
    body,
  };
}

function bodyOf({ body, text, base64 }: RecordedRequest, bindings: Bindings): Buffer | undefined {
  if (body !== undefined) return Buffer.from(JSON.stringify(bindings.fillJson(body)));
  if (text !== undefined) return Buffer.from(bindings.fill(text));
  // The namespace has as many bytes as its placeholder, so lengths inside protobuf stay correct.
  if (base64 !== undefined)
    return Buffer.from(
      Buffer.from(base64, "base64")
        .toString("latin1")
        .replaceAll("{{NS}}", bindings.get("NS") ?? ""),
      "latin1",
    );
  return undefined;
}

function headersOf({ rawHeaders }: IncomingMessage): Answer["headers"] {
  const headers: Record<string, string | string[]> = {};
  const warnings: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const value = rawHeaders[index + 1] ?? "";
    if (!KEPT_HEADERS.has(name)) continue;
    if (name === "warning") warnings.push(value);
    else headers[name] = name === "etag" ? "present" : value;
  }
  if (warnings.length > 0) headers.warning = warnings;
  if (headers["cache-control"] === "no-cache, private") delete headers["cache-control"];
  return headers;
}

function readAnswer(
  response: IncomingMessage,
  bytes: Buffer,
  step: Step,
  bindings: Bindings,
): { answer: Answer; whole?: Json } {
  const headers = headersOf(response);
  const answer: Answer = { status: response.statusCode ?? 0, headers };
  const type =
    String(headers["content-type"] ?? "")
      .split(";")[0]
      ?.trim() ?? "";
  const text = bytes.toString("utf8");
  const isJson =
    type === "application/json" || type.endsWith("+json") || (step.transform !== undefined && /^\s*[{[]/.test(text));
  if (!isJson || text === "") return { answer: { ...answer, text } };
  const whole = JSON.parse(text) as Json;
  const claims = claimsOf(whole);
  const body = reduce(JSON.parse(text) as Json, step.transform && bindings.fillJson(step.transform));
  return { answer: { ...answer, body, ...omitZero({ claims }) }, whole };
}

/** The claims of a token, with times relative to the time of issue. */
function claimsOf(body: Json): JsonObject | undefined {
  if (
    !isObject(body) ||
    body.kind !== "TokenRequest" ||
    !isObject(body.status) ||
    typeof body.status.token !== "string"
  )
    return undefined;
  const [header, payload] = body.status.token
    .split(".", 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()) as JsonObject);
  if (!header || !payload) return undefined;
  delete header.kid;
  const issued = Number(payload.iat);
  const since = (object: JsonObject, key: string): void => {
    if (object[key] !== undefined) object[key] = `iat+${Number(object[key]) - issued}`;
  };
  for (const key of ["nbf", "exp", "iat"]) since(payload, key);
  if (isObject(payload["kubernetes.io"])) since(payload["kubernetes.io"], "warnafter");
  return { header, payload };
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function titleOf({ request, calls, read = "" }: Step): string {
  if (request) return `${request.method} ${request.path}`;
  return calls === undefined ? `read ${read}` : `calls of ${calls}`;
}
