import { once } from "node:events";
import { createServer as createPlainServer } from "node:net";
import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority } from "@flotilla/apimachinery";
import type { CertificateAuthority } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, messageOf, systemClock } from "@flotilla/base";
import type { Clock, FakeClock } from "@flotilla/base";
import { MAX_ANSWER_BYTES, MAX_CALLS_IN_FLIGHT } from "@flotilla/client";
import { readHealth } from "../../../packages/flotilla/src/interpreter/webhook/answers.ts";
import type { ResolveService } from "@flotilla/client";
import { HookMetrics } from "../../../packages/flotilla/src/interpreter/webhook/hook-metrics.ts";
import { createHook } from "../../../packages/flotilla/src/interpreter/webhook/hook.ts";
import type { Hook } from "../../../packages/flotilla/src/interpreter/webhook/hook.ts";
import {
  answering,
  makeConfiguration,
  serveWebhook,
} from "../../../packages/flotilla/src/interpreter/webhook/test-webhook.ts";
import type { Behaviour, TestWebhook } from "../../../packages/flotilla/src/interpreter/webhook/test-webhook.ts";
import { FailedWebhook } from "../../../packages/flotilla/src/interpreter/webhook/failed-webhook.ts";

let authority: CertificateAuthority;
let serving: { certificate: string; key: string };
let caBundle: string;
beforeAll(async () => {
  authority = await createCertificateAuthority({ clock: systemClock });
  serving = await authority.issueServing(["hooks.shop.svc"]);
  caBundle = Buffer.from(authority.certificate).toString("base64");
});

async function serve(behave: Behaviour): Promise<TestWebhook> {
  const webhook = await serveWebhook(serving, behave);
  onTestFinished(() => webhook.stop());
  return webhook;
}

interface HookOptions {
  clock?: Clock;
  clientConfig?: object;
  timeoutSeconds?: number;
  interpreterContextVersions?: string[];
  resolveService?: ResolveService;
}

function openHook(
  url: string,
  { clock = createFakeClock(), clientConfig = { url, caBundle }, resolveService, ...settings }: HookOptions = {},
): Hook {
  const [webhook] = makeConfiguration("examples", { clientConfig, ...settings }).webhooks;
  if (!webhook) throw new Error("a configuration without a webhook");
  const hook = createHook("examples/hook", webhook, "Fail", {
    clock,
    random: createSeededRandom(1),
    metrics: new HookMetrics(),
    resolveService,
  });
  onTestFinished(() => hook.close());
  return hook;
}

/** Waits between attempts end at once and are recorded; everything else waits for the test. */
function createEagerClock(): { clock: Clock; fake: FakeClock; waits: number[] } {
  const fake = createFakeClock();
  const waits: number[] = [];
  const clock: Clock = {
    now: () => fake.now(),
    after(delayMs, run) {
      if (delayMs >= 1000) return fake.after(delayMs, run);
      waits.push(delayMs);
      const timer = setImmediate(run);
      return { cancel: () => clearImmediate(timer) };
    },
  };
  return { clock, fake, waits };
}

const workload = {
  apiVersion: "workload.example.io/v1alpha1",
  kind: "Workload",
  metadata: { name: "web", namespace: "shop" },
};
const ask = (hook: Hook): Promise<boolean> => hook.ask({ operation: "InterpretHealth", object: workload }, readHealth);

async function failureOf(answer: Promise<unknown>): Promise<FailedWebhook> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof FailedWebhook) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

describe("reports a clear error for a hostile or broken webhook:", () => {
  const raw =
    (text: string): Behaviour =>
    (_asked, response) =>
      void response.end(text);
  const cases: Record<string, { behave: Behaviour; reason: string; message: RegExp }> = {
    "a response with a too large Content-Length": {
      behave: (_asked, response) => void response.writeHead(200, { "content-length": MAX_ANSWER_BYTES + 1 }).write("{"),
      reason: "answer",
      message: /the response is longer than 4194304 bytes$/,
    },
    "an endless response": {
      behave(_asked, response) {
        const chunk = Buffer.alloc(64 * 1024, " ");
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on("drain", more);
        more();
      },
      reason: "answer",
      message: /the response is longer than 4194304 bytes$/,
    },
    "a response with another uid": {
      behave: raw('{"response":{"uid":"1","successful":true,"healthy":true}}'),
      reason: "answer",
      message: /the response is for another request/,
    },
    "a response that is not JSON": { behave: raw("healthy"), reason: "answer", message: /the response is not JSON/ },
    "a deeply nested response": {
      behave: raw(`{"response":${"[".repeat(1_000_000)}`),
      reason: "answer",
      message: /nested more than 1000 levels deep$/,
    },
    "a response that accesses the prototype": {
      behave: raw('{"__proto__":{"response":{"successful":true,"healthy":true}}}'),
      reason: "answer",
      message: /the body has no response field$/,
    },
    "an endless header": {
      behave: (_asked, response) => void response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`),
      reason: "answer",
      message: /the response is not HTTP, or its header has more than 16384 bytes/,
    },
    "a response that is not HTTP": {
      behave: (_asked, response) => void response.socket?.end("hello\r\n\r\n"),
      reason: "answer",
      message: /the response is not HTTP/,
    },
    "a redirect": {
      behave: (_asked, response) => void response.writeHead(302, { location: "https://127.0.0.1:1/" }).end(),
      reason: "status",
      message: /HTTP status 302, and redirects are not followed$/,
    },
    "a protocol switch": {
      behave: (_asked, response) =>
        void response.socket?.write(
          "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chess\r\n\r\n",
        ),
      reason: "status",
      message: /switched protocols/,
    },
    "HTTP status 404": {
      behave: (_asked, response) =>
        void response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found\n"),
      reason: "status",
      message: /HTTP status 404: "404 page not found"$/,
    },
  };
  for (const [what, { behave, reason, message }] of Object.entries(cases)) {
    test(what, async () => {
      const webhook = await serve(behave);
      const hook = openHook(webhook.url);

      const failure = await failureOf(ask(hook));

      expect(messageOf(failure)).toMatch(/^calling webhook examples\/hook for InterpretHealth of Workload shop\/web: /);
      expect(failure.message).toMatch(message);
      expect(failure.reason).toBe(reason);
      expect(webhook.asked).toHaveLength(1);
      expect("healthy" in {}).toBe(false);
    });
  }
});

describe("timeout", () => {
  test("ends a call without a response", async () => {
    const arrived = Promise.withResolvers<void>();
    const webhook = await serve(() => arrived.resolve());
    const clock = createFakeClock();
    const answer = failureOf(ask(openHook(webhook.url, { clock, timeoutSeconds: 3 })));
    await arrived.promise;

    clock.advance(3000);

    expect(await answer).toMatchObject({
      reason: "timeout",
      message: expect.stringMatching(/: no response within 3 s$/) as string,
    });
    expect(clock.nextDue()).toBeUndefined();
  });

  test("ends a call whose response arrives byte by byte", async () => {
    const arrived = Promise.withResolvers<void>();
    const webhook = await serve((_asked, response) => {
      response.write('{"response":');
      arrived.resolve();
    });
    const clock = createFakeClock();
    const answer = failureOf(ask(openHook(webhook.url, { clock })));
    await arrived.promise;

    clock.advance(10_000);

    expect(await answer).toMatchObject({
      reason: "timeout",
      message: expect.stringMatching(/: no response within 10 s$/) as string,
    });
  });

  test("ends a call to a server that accepts but does not respond", async () => {
    const server = createPlainServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    onTestFinished(() => void server.close());
    const clock = createFakeClock();
    const answer = failureOf(ask(openHook(`https://127.0.0.1:${port}`, { clock })));
    const [socket] = (await once(server, "connection")) as [{ destroy(): void }];
    onTestFinished(() => socket.destroy());

    clock.advance(10_000);

    expect((await answer).reason).toBe("timeout");
  });

  test("is capped at 30 seconds", async () => {
    const webhook = await serve(answering({ healthy: true }));

    await ask(openHook(webhook.url, { timeoutSeconds: 600 }));

    expect(webhook.asked[0]?.path).toBe("/interpret?timeout=30s");
  });
});

describe("retry", () => {
  const failingTimes = (times: number, fail: Behaviour): Behaviour => {
    let left = times;
    return (asked, response) => (left-- > 0 ? fail(asked, response) : answering({ healthy: true })(asked, response));
  };
  const unavailable: Behaviour = (_asked, response) => void response.writeHead(503).end("starting");
  const hangUp: Behaviour = (_asked, response) => void response.socket?.destroy();

  for (const [what, fail] of Object.entries({
    "a webhook that is not ready": unavailable,
    "a broken connection": hangUp,
  })) {
    test(`${what} is retried after a backoff, with the same request`, async () => {
      const webhook = await serve(failingTimes(2, fail));
      const { clock, waits } = createEagerClock();

      const healthy = await ask(openHook(webhook.url, { clock }));

      expect(healthy).toBe(true);
      expect(new Set(webhook.asked.map(({ request }) => request["uid"])).size).toBe(1);
      expect(waits).toHaveLength(2);
      expect(waits[0]).toSatisfy((ms: number) => ms >= 100 && ms < 200);
      expect(waits[1]).toSatisfy((ms: number) => ms >= 200 && ms < 400);
    });
  }

  test("ends after three attempts with the last error", async () => {
    const webhook = await serve(unavailable);
    const { clock } = createEagerClock();

    const failure = await failureOf(ask(openHook(webhook.url, { clock })));

    expect(failure).toMatchObject({ reason: "status", message: expect.stringMatching(/HTTP status 503$/) as string });
    expect(webhook.asked).toHaveLength(3);
  });

  test("ends at the timeout, and reports the earlier failure", async () => {
    const webhook = await serve(unavailable);
    const fake = createFakeClock();
    const waits = Promise.withResolvers<void>();
    const clock: Clock = {
      now: () => fake.now(),
      after(delayMs, run) {
        if (delayMs >= 1000) return fake.after(delayMs, run);
        waits.resolve();
        return fake.after(60_000, run);
      },
    };
    const answer = failureOf(ask(openHook(webhook.url, { clock })));
    await waits.promise;

    fake.advance(10_000);

    expect(await answer).toMatchObject({
      reason: "timeout",
      message: expect.stringMatching(
        /no response within 10 s; before that, the webhook returned HTTP status 503$/,
      ) as string,
    });
  });

  test("connects at most three times when nothing listens", async () => {
    const webhook = await serve(unavailable);
    await webhook.stop();
    const { clock, waits } = createEagerClock();

    const failure = await failureOf(ask(openHook(webhook.url, { clock })));

    expect(failure.reason).toBe("connection");
    expect(messageOf(failure)).toMatch(/: the webhook is unreachable \(connect ECONNREFUSED /);
    expect(waits).toHaveLength(2);
  });

  test("does not happen when the webhook reports a failure", async () => {
    const webhook = await serve(
      ({ request }, response) =>
        void response.end(
          JSON.stringify({
            response: { uid: request["uid"], successful: false, status: { code: 500, message: "no" } },
          }),
        ),
    );

    const failure = await failureOf(ask(openHook(webhook.url)));

    expect(failure.reason).toBe("refused");
    expect(webhook.asked).toHaveLength(1);
  });
});

describe("TLS trust", () => {
  test("is limited to the CA of the configuration", async () => {
    const webhook = await serve(answering({ healthy: true }));
    const other = await createCertificateAuthority({ clock: systemClock });

    const failure = await failureOf(
      ask(
        openHook(webhook.url, {
          clientConfig: { url: webhook.url, caBundle: Buffer.from(other.certificate).toString("base64") },
        }),
      ),
    );

    expect(failure.reason).toBe("connection");
    expect(messageOf(failure)).toMatch(
      /the webhook's certificate is not trusted \(.+\); check the address, clientConfig\.caBundle/,
    );
    expect(webhook.asked).toEqual([]);
  });

  test("TLS trust without a bundle rejects an unknown CA", async () => {
    const webhook = await serve(answering({ healthy: true }));

    const failure = await failureOf(ask(openHook(webhook.url, { clientConfig: { url: webhook.url } })));

    expect(failure.reason).toBe("connection");
    expect(webhook.asked).toEqual([]);
  });

  test("requires the Service name in the certificate, at any address", async () => {
    const webhook = await serve(answering({ healthy: true }));
    const resolveService: ResolveService = () => ({ host: "127.0.0.1", port: webhook.port });
    const service = (name: string): object => ({ caBundle, service: { namespace: "shop", name, path: "/interpret" } });

    const healthy = await ask(openHook("", { clientConfig: service("hooks"), resolveService }));
    const failure = await failureOf(ask(openHook("", { clientConfig: service("others"), resolveService })));

    expect(healthy).toBe(true);
    expect(webhook.asked.map(({ headers, path }) => [headers.host, path])).toEqual([
      ["hooks.shop.svc:443", "/interpret?timeout=10s"],
    ]);
    expect(messageOf(failure)).toContain("others.shop.svc");
  });

  test("rejects old TLS versions", async () => {
    const server = createTlsServer({
      cert: serving.certificate,
      key: serving.key,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
      ciphers: "DEFAULT:@SECLEVEL=0",
    });
    server.on("tlsClientError", () => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;

    const failure = await failureOf(ask(openHook(`https://127.0.0.1:${port}`)));

    expect(failure.reason).toBe("connection");
  });

  const broken: Record<string, [HookOptions, RegExp]> = {
    "a bundle without a certificate": [
      { clientConfig: { url: "https://127.0.0.1", caBundle: "bm9uZQ==" } },
      /caBundle contains no PEM certificate$/,
    ],
    "a bundle with an invalid certificate": [
      {
        clientConfig: {
          url: "https://127.0.0.1",
          caBundle: Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").toString("base64"),
        },
      },
      /caBundle contains an invalid certificate$/,
    ],
    "a URL without TLS": [{ clientConfig: { url: "http://127.0.0.1" } }, /webhooks must use https$/],
    "no supported protocol version": [
      { interpreterContextVersions: ["v2"] },
      /interpreterContextVersions does not contain v1alpha1/,
    ],
  };
  for (const [what, [options, message]] of Object.entries(broken)) {
    test(`${what} fails as a configuration error`, async () => {
      const hook = openHook("https://127.0.0.1:1", options);

      const failure = await failureOf(ask(hook));

      expect(failure.reason).toBe("configuration");
      expect(failure.message).toMatch(message);
      expect(hook.problem?.message).toMatch(message);
    });
  }
});

describe("concurrent calls", () => {
  test("are limited, use one connection each, and all get a response", async () => {
    const full = Promise.withResolvers<void>();
    let inFlight = 0;
    let most = 0;
    const webhook = await serve((asked, response) => {
      most = Math.max(most, ++inFlight);
      if (inFlight === MAX_CALLS_IN_FLIGHT) full.resolve();
      void full.promise.then(() => {
        inFlight--;
        answering({ healthy: true })(asked, response);
      });
    });
    const hook = openHook(webhook.url);

    const answers = await Promise.all(Array.from({ length: 3 * MAX_CALLS_IN_FLIGHT }, () => ask(hook)));

    expect(answers).toEqual(Array.from({ length: 3 * MAX_CALLS_IN_FLIGHT }, () => true));
    expect(most).toBe(MAX_CALLS_IN_FLIGHT);
    expect(webhook.connections()).toBe(MAX_CALLS_IN_FLIGHT);
  });

  test("end when the hook is closed, as do later calls", async () => {
    const arrived = Promise.withResolvers<void>();
    const webhook = await serve(() => arrived.resolve());
    const hook = openHook(webhook.url);
    const answer = failureOf(ask(hook));
    await arrived.promise;

    await hook.close();

    expect((await answer).message).toMatch(/: Flotilla is stopping$/);
    expect((await failureOf(ask(hook))).message).toMatch(/: Flotilla is stopping$/);
  });
});
