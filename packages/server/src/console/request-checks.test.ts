import { expect, test } from "vitest";
import { cookieName, isOurHost, isSameOrigin, readCookie, setCookie } from "./request-checks.ts";

const names = new Set(["hub.example.com"]);
const request = (headers: Record<string, string>) => ({ method: "GET", headers });

const hosts: Record<string, boolean> = {
  "127.0.0.1:6444": true,
  "localhost:6444": true,
  "[::1]:6444": true,
  "hub.example.com": true,
  "evil.test": false,
  "127.0.0.1.evil.test": false,
  "": false,
};
for (const [host, want] of Object.entries(hosts))
  test(`the host name "${host}" is ${want ? "ours" : "refused"}`, () => {
    expect(isOurHost(request({ host }), names)).toBe(want);
  });

const origins: Record<string, { headers: Record<string, string>; want: boolean }> = {
  "a request of our own page counts": { headers: { origin: "http://127.0.0.1:6444" }, want: true },
  "a request of another port does not count": { headers: { origin: "http://127.0.0.1:8080" }, want: false },
  "a request of another scheme does not count": { headers: { origin: "https://127.0.0.1:6444" }, want: false },
  "a request without an origin counts when the browser says that it is ours": {
    headers: { "sec-fetch-site": "same-origin" },
    want: true,
  },
  "a request of another site does not count": { headers: { "sec-fetch-site": "cross-site" }, want: false },
  "an origin outweighs what else the request says": {
    headers: { origin: "http://evil.test", "sec-fetch-site": "same-origin" },
    want: false,
  },
  "a request that says nothing does not count": { headers: {}, want: false },
};
for (const [name, { headers, want }] of Object.entries(origins))
  test(name, () => {
    expect(isSameOrigin(request({ host: "127.0.0.1:6444", ...headers }), "http")).toBe(want);
  });

test("cookies of two hubs on one machine have different names, and none has a path", () => {
  const chrome = { "user-agent": "Chrome/150 Safari/537" };
  const one = cookieName(request({ host: "127.0.0.1:6444", ...chrome }), "http");
  const two = cookieName(request({ host: "127.0.0.1:7444", ...chrome }), "http");

  expect([one.name, two.name]).toEqual(["__Secure-flotilla-6444", "__Secure-flotilla-7444"]);
  expect(setCookie(one, "x")).toBe("__Secure-flotilla-6444=x; HttpOnly; SameSite=Strict; Secure");
  expect(readCookie(request({ cookie: "a=1; __Secure-flotilla-6444=x" }), one.name)).toBe("x");
});

test("Safari, which refuses secure cookies on loopback, gets a plain one there", () => {
  const safari = { host: "127.0.0.1:6444", "user-agent": "Version/18 Safari/605" };

  expect(cookieName(request(safari), "http")).toEqual({ name: "flotilla-6444", secure: false });
  expect(cookieName(request(safari), "https").secure).toBe(true);
});
