/** Requests that another API server has to answer, sent to it as the user who made them. */
import { defined } from "@flotilla/base";
import { HUB } from "@flotilla/apimachinery";
import type { ConnectHandler } from "@flotilla/apimachinery";
import { streamOf } from "@flotilla/apiserver";
import type { ApiRequest, ApiResponse } from "@flotilla/apiserver";
import type { Impersonation, RawResponse, Transport } from "@flotilla/client";
import { shownText, storedText, storedUrl } from "./stored-clusters.ts";

/** Of a request; others are about the connection, or name the user. */
const SENT_HEADERS = ["accept", "content-type", "user-agent", "if-none-match"];
/** Of an answer. */
const RETURNED_HEADERS = ["content-type", "warning", "cache-control", "retry-after", "audit-id", "etag"];

type User = ApiRequest["user"];

/** Answers for objects that are stored under another version: their texts are changed before they are sent. */
export async function forwardClusters(transport: Transport, request: ApiRequest): Promise<ApiResponse> {
  const { method, path, query, body } = request;
  const search = query.size > 0 ? `?${query.toString()}` : "";
  const {
    status,
    headers,
    body: chunks,
  } = await ask(transport, {
    method,
    path: `${storedUrl(path)}${search}`,
    headers: request.headers,
    body: body.byteLength > 0 ? Buffer.from(storedText(Buffer.from(body).toString())) : undefined,
    user: request.user,
    signal: request.signal,
  });
  const isWatch = query.get("watch") === "true" || query.get("watch") === "1";
  return {
    status,
    headers: returned(headers),
    body: isWatch && status === 200 ? streamOf(lines(chunks)) : await whole(chunks),
    ...defined({ isFinite: isWatch && status === 200 ? undefined : true }),
  };
}

/** Discovery and objects of the hub itself, for clients that address all clusters. */
export const createAskHub =
  (transport: Transport): ConnectHandler =>
  async ({ method, rawPath, query, headers, user, body }, signal) => {
    const search = query.size > 0 ? `?${query.toString()}` : "";
    const answer = await ask(transport, { method, path: `/${rawPath}${search}`, headers, body, user, signal });
    return { status: answer.status, headers: returned(answer.headers), body: answer.body };
  };

interface Asked {
  method: string;
  path: string;
  headers: Readonly<Record<string, string | undefined>>;
  body?: Uint8Array | undefined;
  user: User;
  signal: AbortSignal;
}

function ask(transport: Transport, asked: Asked): Promise<RawResponse> {
  const { method, path, headers, body, user, signal } = asked;
  const sent = Object.fromEntries(
    SENT_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return transport.raw({ method, path, cluster: HUB, headers: sent, body, impersonate: impersonationOf(user) }, signal);
}

const impersonationOf = ({ name, uid, groups, extra }: User): Impersonation => ({
  user: name,
  uid: uid === "" ? undefined : uid,
  groups,
  extra,
});

const returned = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    RETURNED_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.from(shownText(Buffer.concat(read).toString()));
}

/** Whole lines, so that no text that has to be changed is divided. */
async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(0x0a);
    if (end < 0) {
      rest.push(chunk);
      continue;
    }
    yield Buffer.from(shownText(Buffer.concat([...rest, chunk.subarray(0, end + 1)]).toString()));
    rest = [chunk.subarray(end + 1)];
  }
}
