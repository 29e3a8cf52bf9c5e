/** Uses real programs: each plugin is a line of JavaScript. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFakeClock, type FakeClock } from "@flotilla/base";
import { createExecCredentials, type ExecPlugin } from "./exec-plugin.ts";

const VERSION = "client.authentication.k8s.io/v1";
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "flotilla-plugin-"));
});
afterAll(() => rm(directory, { recursive: true }));

const printing = (status: object): string =>
  `console.log(${JSON.stringify(JSON.stringify({ apiVersion: VERSION, kind: "ExecCredential", status }))})`;
/** A plugin that counts its runs in a file and prints the count as its token. */
const counting = (file: string, status = ""): string =>
  `const fs = require("node:fs"); const count = (fs.existsSync(${JSON.stringify(file)}) ? ` +
  `Number(fs.readFileSync(${JSON.stringify(file)})) : 0) + 1; fs.writeFileSync(${JSON.stringify(file)}, ` +
  `String(count)); console.log(JSON.stringify({ apiVersion: "${VERSION}", kind: "ExecCredential", status: { ` +
  `token: "t" + count${status} } }))`;

function makeSource(
  script: string,
  {
    plugin = {},
    isTerminal = false,
    clock = createFakeClock(),
  }: { plugin?: Partial<ExecPlugin>; isTerminal?: boolean; clock?: FakeClock } = {},
) {
  return createExecCredentials({
    plugin: {
      apiVersion: VERSION,
      command: process.execPath,
      args: ["-e", script],
      env: {},
      installHint: "",
      interactiveMode: "Never",
      ...plugin,
    },
    clock,
    environment: { PATH: process.env["PATH"], GREETING: "hello" },
    isTerminal,
  });
}

describe("a credential plugin", () => {
  test("receives the environment, its own variables and the cluster information", async () => {
    const cluster = { server: "https://a", config: { audience: "x" } };
    const source = makeSource(
      `console.log(JSON.stringify({ apiVersion: "${VERSION}", kind: "ExecCredential", status: { token: ` +
        "process.env.GREETING + process.env.REGION + process.env.KUBERNETES_EXEC_INFO } }))",
      { plugin: { env: { REGION: "north" }, cluster } },
    );

    const { token = "" } = await source.current();

    expect(token.startsWith("hellonorth")).toBe(true);
    expect(JSON.parse(token.slice("hellonorth".length))).toEqual({
      apiVersion: VERSION,
      kind: "ExecCredential",
      spec: { interactive: false, cluster },
    });
  });

  test("runs once for concurrent requests, and again when its credentials have expired", async () => {
    const clock = createFakeClock(Date.parse("2024-05-01T12:00:00Z"));
    const source = makeSource(
      counting(
        join(directory, "expiring"),
        ', expirationTimestamp: count === 1 ? "2024-05-01T12:05:00Z" : "2024-05-01T13:00:00Z"',
      ),
      { clock },
    );

    const first = await Promise.all([source.current(), source.current(), source.current()]);
    clock.advance(300_000);
    const second = await source.current();
    clock.advance(300_000);

    expect(first).toEqual([{ token: "t1" }, { token: "t1" }, { token: "t1" }]);
    expect([second, await source.current()]).toEqual([{ token: "t2" }, { token: "t2" }]);
  });

  test("runs again when the server rejects its credentials, but not on every rejection", async () => {
    const clock = createFakeClock();
    const file = join(directory, "refused");
    const source = makeSource(counting(file), { clock });
    const first = await source.current();

    const atOnce = await source.replace(first);
    clock.advance(10_000);
    const later = await Promise.all([source.replace(first), source.replace(first)]);
    const known = await source.replace(first);

    expect(atOnce).toBeUndefined();
    expect(later).toEqual([{ token: "t2" }, { token: "t2" }]);
    expect(known).toEqual({ token: "t2" });
    expect(await readFile(file, "utf8")).toBe("2");
  });

  test("a credential plugin that fails is not run again for a while", async () => {
    const clock = createFakeClock();
    const file = join(directory, "failing");
    const source = makeSource(`require("node:fs").appendFileSync(${JSON.stringify(file)}, "x"); process.exit(1)`, {
      clock,
    });

    await expect(source.current()).rejects.toThrow("failed with exit code 1");
    await expect(source.current()).rejects.toThrow("failed with exit code 1");
    const tries = (await readFile(file, "utf8")).length;
    clock.advance(5_000);
    await expect(source.current()).rejects.toThrow("failed with exit code 1");

    expect([tries, (await readFile(file, "utf8")).length]).toEqual([1, 2]);
  });

  const wrong: Record<string, { script: string; plugin?: Partial<ExecPlugin>; message: RegExp }> = {
    "that is not installed fails with its install hint": {
      script: "",
      plugin: { command: "no-such-plugin", installHint: "get it from example.com" },
      message: /^the credential plugin no-such-plugin was not found; get it from example.com$/,
    },
    "that is not installed and has no hint fails with advice to check the command and PATH": {
      script: "",
      plugin: { command: "no-such-plugin" },
      message: /check the command in the kubeconfig and your PATH/,
    },
    "that fails has its stderr quoted": {
      script: `console.error("please log in"); process.exit(3)`,
      message: /failed with exit code 3: please log in$/,
    },
    "that needs a terminal is not run without one": {
      script: printing({ token: "t" }),
      plugin: { interactiveMode: "Always" },
      message: /needs a terminal for its prompts/,
    },
    "that prints no JSON does not have its output quoted": {
      script: `console.log("secret")`,
      message: /^(?!.*secret).* did not print JSON/,
    },
    "that prints another kind is rejected": {
      script: `console.log("{}")`,
      message: /did not print an ExecCredential/,
    },
    "that prints another API version is rejected": {
      script: printing({ token: "t" }),
      plugin: { apiVersion: "client.authentication.k8s.io/v1beta1" },
      message: /is configured for client.authentication.k8s.io\/v1beta1 but printed "client.authentication.k8s.io\/v1"/,
    },
    "that prints no credentials is rejected": {
      script: printing({}),
      message: /printed neither a token nor a certificate/,
    },
    "that prints a certificate without its key is rejected": {
      script: printing({ clientCertificateData: "C" }),
      message: /only one of certificate and key/,
    },
    "that prints a mismatched certificate and key is rejected": {
      script: printing({ clientCertificateData: "C", clientKeyData: "K" }),
      message: /are not a matching PEM pair/,
    },
    "that prints an invalid expirationTimestamp is rejected": {
      script: printing({ token: "t", expirationTimestamp: "tomorrow" }),
      message: /printed an invalid expirationTimestamp/,
    },
    "that prints too much is stopped": {
      script: `const line = "x".repeat(65536); const go = () => { while (process.stdout.write(line)); process.stdout.once("drain", go); }; go()`,
      message: /printed more than 1048576 bytes/,
    },
  };
  for (const [behaviour, { script, plugin = {}, message }] of Object.entries(wrong)) {
    test(behaviour, async () => {
      await expect(makeSource(script, { plugin }).current()).rejects.toMatchObject({
        code: "Credentials",
        message: expect.stringMatching(message) as string,
      });
    });
  }

  test("a credential plugin that exceeds its timeout is stopped", async () => {
    const clock = createFakeClock();
    const source = makeSource("setInterval(() => {}, 1000)", { clock });

    const current = source.current();
    clock.advance(60_000);

    await expect(current).rejects.toThrow("did not finish within 60 s");
  });

  test("may be a script next to the kubeconfig", async () => {
    const path = join(directory, "plugin.sh");
    await writeFile(
      path,
      `#!/bin/sh\necho '{"apiVersion":"${VERSION}","kind":"ExecCredential","status":{"token":"from-a-script"}}'\n`,
      { mode: 0o755 },
    );

    expect(await makeSource("", { plugin: { command: path, args: [] } }).current()).toEqual({ token: "from-a-script" });
  });
});
