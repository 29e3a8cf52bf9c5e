/**
 * Requests of the page: to the Kubernetes API of the hub and its members, and to what commands compute. All of them use
 * the credentials of the viewer.
 */
import { HUB } from "@flotilla/apimachinery";
import { createSemaphore, isObject, UsageError, defined } from "@flotilla/base";
import type { Clock, Json, JsonObject } from "@flotilla/base";
import type { ApiResponse } from "@flotilla/apiserver";
import { fleetQuestions } from "@flotilla/cli";
import { queryText } from "@flotilla/client";
import type { CheckedRequest } from "./request-checks.ts";
import { COMMON_HEADERS, DATA_POLICY } from "./page-headers.ts";
import { textAt } from "./json-access.ts";
import { searchFleet } from "./search.ts";
import { mayDo } from "./viewers.ts";
import type { Viewer } from "./viewers.ts";

/** A request whose session and origin were checked; the path is relative to `/ui/api/`. */
interface ApiCall extends CheckedRequest {
  path: string;
  query: URLSearchParams;
  body: Uint8Array;
}

export interface ConsoleApi {
  handle(viewer: Viewer, request: ApiCall, signal: AbortSignal): Promise<ApiResponse>;
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_QUESTIONS = 100;
/** A plan reads the whole fleet. */
const PLANS_AT_ONCE = 2;
const REQUEST_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
]);
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

export function createConsoleApi({ clock }: { clock: Clock }): ConsoleApi {
  const plans = createSemaphore(PLANS_AT_ONCE);
  return {
    async handle(viewer, request, signal) {
      const { path, method, query } = request;
      const asking = { client: viewer.hub.client, clock, signal };
      if (path.startsWith("hub/")) return forward(viewer, request, path.slice("hub".length), signal);
      switch (`${method} ${path}`) {
        case "GET why": {
          const object = {
            type: query.get("type") ?? "",
            name: query.get("name") ?? "",
            namespace: query.get("namespace") ?? "default",
          };
          return data(await fleetQuestions.why(object, asking));
        }
        case "POST plan": {
          const given = readBody(request);
          const text = textAt(given, "text");
          const without = Array.isArray(given["without"]) ? given["without"].map(String) : [];
          const namespace = typeof given["namespace"] === "string" ? given["namespace"] : "default";
          const release = await plans.acquire(1, viewer.key, signal);
          try {
            return data(await fleetQuestions.plan({ text, without, namespace }, asking));
          } finally {
            release();
          }
        }
        case "POST manifests":
          return data(await fleetQuestions.manifests(textAt(readBody(request), "text")));
        case "POST rights":
          return data(await readRights(viewer, readBody(request), signal));
        case "GET search":
          return data(await searchFleet(viewer.hub.client, query.get("q") ?? "", clock, signal));
        default:
          return data({ message: "there is no such request" }, 404);
      }
    },
  };
}

/** Whatever answers, a member or a workload behind a proxy: the browser gets it as data and never as a page. */
async function forward(
  viewer: Viewer,
  { method, query, headers, body }: ApiCall,
  path: string,
  signal: AbortSignal,
): Promise<ApiResponse> {
  if (!METHODS.has(method)) throw new UsageError(`${method} is not a method of the Kubernetes API`);
  // Endless answers go through the stream, which is bounded.
  if (query.has("watch") || query.has("follow")) throw new UsageError("watches go through the stream");
  const type = headers["content-type"]?.split(";", 1)[0] ?? "application/json";
  if (method !== "GET" && !REQUEST_TYPES.has(type)) throw new UsageError(`${type} is not a type of a request`);
  const accept = headers["accept"] ?? "application/json";
  const answer = await viewer.hub.client.raw(
    {
      method,
      path: `${path}${queryText(Object.fromEntries(query))}`,
      cluster: HUB,
      headers: {
        accept: accept.includes("json") ? accept : "application/json",
        ...defined({ "content-type": method === "GET" ? undefined : type }),
      },
      body: body.length > 0 ? body : undefined,
    },
    signal,
  );
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new UsageError("the answer is too long; ask for less");
    chunks.push(chunk);
  }
  const isJson = (answer.headers["content-type"] ?? "").includes("json");
  return {
    status: answer.status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": isJson ? "application/json" : "text/plain; charset=utf-8",
      "content-security-policy": DATA_POLICY,
      "cache-control": "no-store",
      // Warnings of the hub about the request.
      ...defined({
        "x-flotilla-warning": answer.headers["warning"] ? encodeURIComponent(answer.headers["warning"]) : undefined,
      }),
    },
    body: chunks,
  };
}

async function readRights(viewer: Viewer, { questions }: JsonObject, signal: AbortSignal): Promise<Json> {
  if (!Array.isArray(questions) || !questions.every((each) => isObject(each)))
    throw new UsageError("the field questions is not a list of objects");
  if (questions.length > MAX_QUESTIONS)
    throw new UsageError(`${questions.length} questions are too many; ask at most ${MAX_QUESTIONS} at once`);
  return Promise.all(
    questions.map((each) => {
      const access = Object.fromEntries(
        ["verb", "group", "resource", "subresource", "namespace", "name"].flatMap((field) =>
          typeof each[field] === "string" && each[field] !== "" ? [[field, each[field]]] : [],
        ),
      );
      return mayDo(viewer.hub.client, { verb: "", group: "", resource: "", ...access }, signal);
    }),
  );
}

function readBody({ body }: Pick<ApiCall, "body">): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new UsageError("the body is not a JSON object");
}

function data(value: unknown, status = 200): ApiResponse {
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": "application/json",
      "content-security-policy": DATA_POLICY,
      "cache-control": "no-store",
    },
    body: Buffer.from(JSON.stringify(value)),
  };
}
