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

const cookies: Record<string, { cookie: string; want: string | undefined }> = {
  "is read among others": { cookie: "a=1; session=x; b=2", want: "x" },
  "may contain an equals sign": { cookie: "session=x=y", want: "x=y" },
  "is empty after a sign-out": { cookie: "session=", want: "" },
  "is not one whose name only begins like it": { cookie: "session2=x", want: undefined },
  "is not a word without a value": { cookie: "sessionx", want: undefined },
  "is absent without cookies": { cookie: "", want: undefined },
};
for (const [behaviour, { cookie, want }] of Object.entries(cookies))
  test(`a cookie ${behaviour}`, () => {
    expect(readCookie(request({ cookie }), "session")).toBe(want);
  });
