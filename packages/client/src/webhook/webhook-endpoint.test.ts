import { describe, expect, test } from "vitest";
import { createWebhookLocator } from "./webhook-endpoint.ts";

describe("the endpoint of a URL", () => {
  const cases: Record<string, { host: string; port: number; path: string; authority: string }> = {
    "https://hooks.example.com/interpret": {
      host: "hooks.example.com",
      port: 443,
      path: "/interpret",
      authority: "hooks.example.com",
    },
    "https://10.0.0.7:8443": { host: "10.0.0.7", port: 8443, path: "/", authority: "10.0.0.7:8443" },
    "https://[::1]:8443/a//b/": { host: "::1", port: 8443, path: "/a/b", authority: "[::1]:8443" },
    "https://h/with space?query=1": { host: "h", port: 443, path: "/with%20space", authority: "h" },
  };
  for (const [url, want] of Object.entries(cases)) {
    test(`${url} is parsed`, () => {
      expect(createWebhookLocator({ url })()).toEqual(want);
    });
  }

  const refused: Record<string, string> = {
    "http://hooks.example.com": "clientConfig.url starts with http://, but webhooks must use https",
    "hooks.example.com": "clientConfig.url is not a URL",
    "https://me:secret@hooks.example.com": "clientConfig.url must not contain user information",
  };
  for (const [url, message] of Object.entries(refused)) {
    test(`${url} is rejected, without repeating it`, () => {
      expect(() => createWebhookLocator({ url })).toThrow(
        expect.objectContaining({ reason: "configuration", message }),
      );
    });
  }
});

describe("the endpoint of a Service", () => {
  const service = { namespace: "shop", name: "hooks", path: "/interpret" };

  test("is the address of the hub's Service, under the Service's name", () => {
    const asked: unknown[] = [];

    const endpoint = createWebhookLocator(
      { service: { ...service, port: 8443 } },
      (wanted) => (asked.push(wanted), { host: "10.96.0.9", port: 8443 }),
    )();

    expect(asked).toEqual([{ namespace: "shop", name: "hooks", port: 8443 }]);
    expect(endpoint).toEqual({
      host: "10.96.0.9",
      port: 8443,
      path: "/interpret",
      authority: "hooks.shop.svc:8443",
      serverName: "hooks.shop.svc",
    });
  });

  test("falls back to its DNS name when the hub does not know it, at the https port", () => {
    const endpoint = createWebhookLocator({ service }, () => undefined)();

    expect(endpoint).toEqual({
      host: "hooks.shop.svc",
      port: 443,
      path: "/interpret",
      authority: "hooks.shop.svc:443",
      serverName: "hooks.shop.svc",
    });
  });

  test("takes precedence over a URL, as in Karmada", () => {
    expect(createWebhookLocator({ service, url: "https://elsewhere" })().host).toBe("hooks.shop.svc");
  });

  test("is resolved for every call", () => {
    const addresses = ["10.96.0.1", "10.96.0.2"];
    const locate = createWebhookLocator({ service }, () => ({ host: addresses.shift() ?? "", port: 443 }));

    expect([locate().host, locate().host]).toEqual(["10.96.0.1", "10.96.0.2"]);
  });

  test("fails when the Service has no address", () => {
    const locate = createWebhookLocator({ service }, () => {
      throw new Error("it is headless");
    });

    expect(locate).toThrow(
      expect.objectContaining({
        reason: "configuration",
        message: "the Service shop/hooks cannot be used (it is headless)",
        cause: new Error("it is headless"),
      }),
    );
  });
});

test("a client configuration without url and service fails", () => {
  expect(() => createWebhookLocator({})).toThrow("clientConfig has neither url nor service");
});
