import { expect, test } from "vitest";
import { proxiedHeaders } from "./proxied-headers.ts";

const cases: Record<string, { headers: Record<string, string>; want: Record<string, string> }> = {
  "what the workload asked for is kept": {
    headers: { accept: "text/html", cookie: "theme=dark", "x-request-id": "7" },
    want: { accept: "text/html", cookie: "theme=dark", "x-request-id": "7" },
  },
  "credentials stay here": {
    headers: { authorization: "Bearer s3cret", "proxy-authorization": "Basic YTpi" },
    want: {},
  },
  "whom the sender acts as stays here": {
    headers: {
      "impersonate-user": "eve",
      "impersonate-group": "ops",
      "impersonate-uid": "1",
      "impersonate-extra-team": "a",
    },
    want: {},
  },
  "nobody can pose as a front proxy": {
    headers: {
      "x-remote-user": "eve",
      "x-remote-group": "system:masters",
      "x-remote-uid": "1",
      "x-remote-extra-team": "a",
    },
    want: {},
  },
  "a token among the protocols of a WebSocket is taken out": {
    headers: { "sec-websocket-protocol": "chat, base64url.bearer.authorization.k8s.io.czNjcmV0, log" },
    want: { "sec-websocket-protocol": "chat, log" },
  },
  "what is about the connection ends with it": {
    headers: {
      connection: "keep-alive, X-Hop",
      "keep-alive": "5",
      "x-hop": "1",
      te: "trailers",
      "transfer-encoding": "chunked",
      upgrade: "websocket",
    },
    want: {},
  },
  "the head of HTTP/2 is no header": {
    headers: { ":method": "GET", ":path": "/", ":authority": "hub", ":scheme": "https" },
    want: {},
  },
};
for (const [behaviour, { headers, want }] of Object.entries(cases)) {
  test(`AG-2: ${behaviour}`, () => {
    expect(proxiedHeaders(headers)).toEqual(want);
  });
}
