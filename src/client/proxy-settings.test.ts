import { describe, expect, test } from "vitest";
import { proxyFromEnvironment } from "./proxy-settings.ts";

describe("the proxy of the environment", () => {
  const P = "http://proxy.example:3128";
  const cases: Record<string, { server: string; environment: Record<string, string>; want: string | undefined }> = {
    "is none when nothing is set": { server: "https://a.example", environment: {}, want: undefined },
    "is that for HTTPS": {
      server: "https://a.example:6443",
      environment: { HTTPS_PROXY: P, HTTP_PROXY: "http://other" },
      want: `${P}/`,
    },
    "is that for HTTP, for a server without TLS": {
      server: "http://a.example",
      environment: { HTTPS_PROXY: "http://other", HTTP_PROXY: P },
      want: `${P}/`,
    },
    "may be written in small letters": { server: "https://a.example", environment: { https_proxy: P }, want: `${P}/` },
    "may be a host and port alone": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: "proxy.example:3128" },
      want: `${P}/`,
    },
    "is not for loopback": { server: "https://127.0.0.1:6443", environment: { HTTPS_PROXY: P }, want: undefined },
    "is not for loopback in IPv6": { server: "https://[::1]:6443", environment: { HTTPS_PROXY: P }, want: undefined },
    "is not for localhost": { server: "https://localhost", environment: { HTTPS_PROXY: P }, want: undefined },
    "is not for a host that is exempt": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "b.example, a.example" },
      want: undefined,
    },
    "is not for what is below an exempt domain": {
      server: "https://x.a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example" },
      want: undefined,
    },
    "is for a domain whose subdomains alone are exempt": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, no_proxy: ".a.example" },
      want: `${P}/`,
    },
    "is not for what a star exempts": {
      server: "https://x.a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "*.a.example" },
      want: undefined,
    },
    "is for a host that only ends alike": {
      server: "https://ba.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example" },
      want: `${P}/`,
    },
    "is not for an exempt network": {
      server: "https://10.1.2.3:6443",
      environment: { HTTPS_PROXY: P, NO_PROXY: "10.0.0.0/8" },
      want: undefined,
    },
    "is for an address outside of it": {
      server: "https://11.1.2.3:6443",
      environment: { HTTPS_PROXY: P, NO_PROXY: "10.0.0.0/8,nonsense/99" },
      want: `${P}/`,
    },
    "is not for an exempt IPv6 network": {
      server: "https://[fd00::5]",
      environment: { HTTPS_PROXY: P, NO_PROXY: "fd00::/8" },
      want: undefined,
    },
    "is not for an exempt IPv6 address": {
      server: "https://[fd00::5]",
      environment: { HTTPS_PROXY: P, NO_PROXY: "fd00::5" },
      want: undefined,
    },
    "is not for an exempt port": {
      server: "https://a.example:6443",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example:6443" },
      want: undefined,
    },
    "is for another port": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example:6443" },
      want: `${P}/`,
    },
    "is none at all when everything is exempt": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "*" },
      want: undefined,
    },
  };
  for (const [behaviour, { server, environment, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(proxyFromEnvironment(new URL(server), environment)?.href).toBe(want);
    });
  }

  test("must be one that we can speak to, and is not quoted when it is not", () => {
    const read = (): unknown =>
      proxyFromEnvironment(new URL("https://a.example"), { HTTPS_PROXY: "ftp://me:secret@proxy" });

    expect(read).toThrow("the environment variable HTTPS_PROXY is not the address of a proxy");
    expect(read).not.toThrow("secret");
  });
});
