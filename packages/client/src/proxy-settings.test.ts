import { describe, expect, test } from "vitest";
import { proxyFromEnvironment } from "./proxy-settings.ts";

describe("the proxy of the environment", () => {
  const P = "http://proxy.example:3128";
  const cases: Record<string, { server: string; environment: Record<string, string>; want: string | undefined }> = {
    "is none when no variable is set": { server: "https://a.example", environment: {}, want: undefined },
    "is HTTPS_PROXY for https servers": {
      server: "https://a.example:6443",
      environment: { HTTPS_PROXY: P, HTTP_PROXY: "http://other" },
      want: `${P}/`,
    },
    "is HTTP_PROXY for servers without TLS": {
      server: "http://a.example",
      environment: { HTTPS_PROXY: "http://other", HTTP_PROXY: P },
      want: `${P}/`,
    },
    "may be set in lower-case variables": {
      server: "https://a.example",
      environment: { https_proxy: P },
      want: `${P}/`,
    },
    "may be a bare host and port": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: "proxy.example:3128" },
      want: `${P}/`,
    },
    "is not used for loopback": { server: "https://127.0.0.1:6443", environment: { HTTPS_PROXY: P }, want: undefined },
    "is not used for IPv6 loopback": { server: "https://[::1]:6443", environment: { HTTPS_PROXY: P }, want: undefined },
    "is not used for localhost": { server: "https://localhost", environment: { HTTPS_PROXY: P }, want: undefined },
    "is not used for a host in NO_PROXY": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "b.example, a.example" },
      want: undefined,
    },
    "is not used for subdomains of a NO_PROXY domain": {
      server: "https://x.a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example" },
      want: undefined,
    },
    "is used for a domain when NO_PROXY lists only its subdomains": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, no_proxy: ".a.example" },
      want: `${P}/`,
    },
    "is not used for hosts that match a NO_PROXY wildcard": {
      server: "https://x.a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "*.a.example" },
      want: undefined,
    },
    "is used for a host that only shares a suffix with a NO_PROXY domain": {
      server: "https://ba.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example" },
      want: `${P}/`,
    },
    "is not used for addresses in a NO_PROXY network": {
      server: "https://10.1.2.3:6443",
      environment: { HTTPS_PROXY: P, NO_PROXY: "10.0.0.0/8" },
      want: undefined,
    },
    "is used for an address outside of a NO_PROXY network": {
      server: "https://11.1.2.3:6443",
      environment: { HTTPS_PROXY: P, NO_PROXY: "10.0.0.0/8,nonsense/99" },
      want: `${P}/`,
    },
    "is not used for addresses in a NO_PROXY IPv6 network": {
      server: "https://[fd00::5]",
      environment: { HTTPS_PROXY: P, NO_PROXY: "fd00::/8" },
      want: undefined,
    },
    "is not used for a NO_PROXY IPv6 address": {
      server: "https://[fd00::5]",
      environment: { HTTPS_PROXY: P, NO_PROXY: "fd00::5" },
      want: undefined,
    },
    "is not used for a NO_PROXY host and port": {
      server: "https://a.example:6443",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example:6443" },
      want: undefined,
    },
    "is used for another port of a NO_PROXY host": {
      server: "https://a.example",
      environment: { HTTPS_PROXY: P, NO_PROXY: "a.example:6443" },
      want: `${P}/`,
    },
    "is none when NO_PROXY is *": {
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

  test("must have a supported scheme, and is not quoted otherwise", () => {
    const read = (): unknown =>
      proxyFromEnvironment(new URL("https://a.example"), { HTTPS_PROXY: "ftp://me:secret@proxy" });

    expect(read).toThrow("the environment variable HTTPS_PROXY is not a proxy URL");
    expect(read).not.toThrow("secret");
  });
});
