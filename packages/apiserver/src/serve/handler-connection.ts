/** Requests of HTTP clients in this process: they reach the handler without a socket. */
import { Readable } from "node:stream";
import type { HttpConnection, HttpResponse } from "@flotilla/client";
import { bodyOf } from "../request/byte-streams.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import type { UserInfo } from "../request/user-info.ts";

export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export function createHandlerConnection(handle: Handle, user: UserInfo): HttpConnection {
  return {
    async open({ method, path, headers, body = new Uint8Array() }, signal): Promise<HttpResponse> {
      const at = path.indexOf("?");
      const response = await handle({
        method,
        path: at < 0 ? path : path.slice(0, at),
        query: new URLSearchParams(at < 0 ? "" : path.slice(at + 1)),
        headers: joinHeaders(headers),
        body,
        user,
        signal,
      });
      const { status } = response;
      return { status, headers: joinHeaders(response.headers), body: Readable.from(bodyOf(response.body, signal)) };
    },
    async close() {
      // There is no socket.
    },
  };
}

/** Headers that occur several times, in one line each. */
export function joinHeaders(headers: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
