import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import { createFakeClock } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { ContainerOfPod, PodLog } from "./pod-log.ts";
import { execute, showLog } from "./exec.ts";
import { SimulatedFiles } from "./container-files.ts";
import { readTar, writeTar } from "./tar.ts";
import type { CommandStreams } from "./exec.ts";

const START = Date.UTC(2024, 4, 1, 12);
const NOTICE = "simulated: pod shop/web-1 runs no processes; the answer is worked out from its spec\n";

function makeTarget(container: Partial<Container> = {}, change: (pod: Pod) => void = () => {}): ContainerOfPod {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-1", namespace: "shop", uid: "u-1", labels: { app: "web" } },
    spec: { nodeName: "node-000", containers: [{ name: "main", image: "web:1", ...container }] },
    status: {
      podIP: "10.128.0.7",
      containerStatuses: [
        {
          name: "main",
          ready: true,
          restartCount: 0,
          image: "web:1",
          imageID: "",
          state: { running: { startedAt: "2024-05-01T12:00:00Z" } },
        },
      ],
    },
  };
  change(pod);
  return { cluster: "paris", namespace: "shop", container: "main", pod: pod as unknown as DeepReadonly<JsonObject> };
}

function capture(input = ""): CommandStreams & { written: { out: string; err: string } } {
  const written = { out: "", err: "" };
  return {
    written,
    stdin: Readable.from(input === "" ? [] : [Buffer.from(input, "latin1")]),
    stdout: async (chunk) => void (written.out += Buffer.from(chunk).toString()),
    stderr: async (chunk) => void (written.err += Buffer.from(chunk).toString()),
  };
}

async function run(command: readonly string[], target = makeTarget(), tty = false) {
  const streams = capture();
  const { exitCode } = await execute(
    target,
    { command, tty },
    streams,
    createFakeClock(START),
    new AbortController().signal,
  );
  return { exitCode, ...streams.written };
}

describe("runs a plain command in a simulated pod and reports that the answer is simulated", () => {
  const env = [
    { name: "COLOR", value: "blue" },
    { name: "GREETING", value: "$(COLOR) $$(COLOR) $(NONE)" },
    { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
    { name: "APP", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
  ];
  const cases: Record<string, { command: string[]; container?: Partial<Container>; out?: string; exitCode?: number }> =
    {
      echo: { command: ["echo", "a", "b  c"], out: "a b  c\n" },
      "echo without a newline": { command: ["/bin/echo", "-n", "a"], out: "a" },
      "printf of plain text": { command: ["printf", "a\\n100%%\\n"], out: "a\n100%\n" },
      true: { command: ["true"] },
      false: { command: ["false"], exitCode: 1 },
      hostname: { command: ["hostname"], out: "web-1\n" },
      "the hostname file": { command: ["cat", "/etc/hostname"], out: "web-1\n" },
      date: { command: ["date"], out: "Wed May  1 12:00:00 UTC 2024\n" },
      pwd: { command: ["pwd"], container: { workingDir: "/app" }, out: "/app\n" },
      whoami: { command: ["whoami"], out: "root\n" },
      "ls of an empty directory": { command: ["ls"] },
      env: {
        command: ["env"],
        container: { env },
        out:
          "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n" +
          "HOSTNAME=web-1\n" +
          "COLOR=blue\n" +
          "GREETING=blue $(COLOR) $(NONE)\n" +
          "NODE=node-000\n" +
          "APP=web\n",
      },
      "printenv of one variable": { command: ["printenv", "APP"], container: { env }, out: "web\n" },
      "printenv without a name": { command: ["printenv", "__proto__"], exitCode: 1 },
      "a shell": {
        command: ["sh", "-c", "hostname && false && echo never; echo 'and so on'; exit 3; echo never"],
        out: "web-1\nand so on\n",
        exitCode: 3,
      },
      "the exit code of a shell's exit": { command: ["bash", "-c", "false; exit"], exitCode: 1 },
    };
  test.each(Object.entries(cases))("%s", async (_behaviour, { command, container, out = "", exitCode = 0 }) => {
    expect(await run(command, makeTarget(container))).toEqual({ exitCode, out, err: NOTICE });
  });
});

describe("a command that needs a real machine exits with 126", () => {
  const cases: Record<string, { command: string[]; name: string }> = {
    "another program": { command: ["tar", "cf", "-", "/tmp"], name: "tar" },
    "an interactive shell": { command: ["sh"], name: "sh" },
    "a script with variables": { command: ["sh", "-c", "echo $HOME"], name: "sh" },
    "a script with one unsupported command": { command: ["sh", "-c", "echo a; curl example.com"], name: "curl" },
    "a file": { command: ["cat", "/etc/passwd"], name: "cat" },
    "exit outside a shell": { command: ["exit", "3"], name: "exit" },
    "a sleep of a day": { command: ["sleep", "86400"], name: "sleep" },
    "a name with terminal control characters": { command: ["\u001b[2J"], name: "?[2J" },
  };
  test.each(Object.entries(cases))("%s", async (_behaviour, { command, name }) => {
    expect(await run(command)).toEqual({
      exitCode: 126,
      out: "",
      err: `${name}: not simulated: pod shop/web-1 runs no processes\n`,
    });
  });
});

test("printenv neither shows nor denies a variable from another object", async () => {
  const target = makeTarget({ env: [{ name: "KEY", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] });

  expect(await run(["printenv", "KEY"], target)).toEqual({
    exitCode: 126,
    out: "",
    err: `${NOTICE}printenv: values from other objects are not simulated\n`,
  });
  expect((await run(["env"], target)).err).toBe(`${NOTICE}values from other objects are not simulated: KEY\n`);
});

test("a terminal receives stdout and stderr on one stream", async () => {
  expect(await run(["hostname"], makeTarget(), true)).toEqual({
    exitCode: 0,
    out: `${NOTICE.replace("\n", "\r\n")}web-1\r\n`,
    err: "",
  });
});

test("sleep takes its time, and ends when the client disconnects", async () => {
  const clock = createFakeClock(START);
  const leave = new AbortController();
  const streams = capture();
  const slept = execute(
    makeTarget(),
    { command: ["sh", "-c", "sleep 5; date"], tty: false },
    streams,
    clock,
    leave.signal,
  );
  const left = execute(makeTarget(), { command: ["sleep", "5"], tty: false }, capture(), clock, leave.signal);
  await new Promise((resolve) => setImmediate(resolve));

  clock.advance(5_000);
  await Promise.all([slept, left]);
  const interrupted = execute(makeTarget(), { command: ["sleep", "5"], tty: false }, capture(), clock, leave.signal);
  leave.abort(new Error("the peer is gone"));

  expect(streams.written.out).toBe("Wed May  1 12:00:05 UTC 2024\n");
  await expect(interrupted).rejects.toThrow("the peer is gone");
});

test("rejects commands for a container that is not running", async () => {
  const target = makeTarget({}, (pod) => (pod.status = {}));

  await expect(run(["true"], target)).rejects.toThrow("container main of pod web-1 is not running");
});

test("attach shows the log until the container ends", async () => {
  const log: PodLog = {
    lines: [{ timeMs: START, text: "ready" }],
    async *follow() {
      yield { timeMs: START + 1, text: "bye" };
    },
  };
  const streams = capture();

  const ended = await showLog(makeTarget(), log, { tty: false }, streams, new AbortController().signal);

  expect([ended.exitCode, streams.written]).toEqual([
    0,
    { out: "ready\nbye\n", err: "simulated: pod shop/web-1 runs no processes; this is the log of container main\n" },
  ]);
});

describe("files that were copied into a container", () => {
  const clock = createFakeClock(START);
  const files = new SimulatedFiles();
  const runWith = async (command: readonly string[], input = "") => {
    const streams = capture(input);
    const { exitCode } = await execute(
      makeTarget(),
      { command, tty: false },
      streams,
      clock,
      new AbortController().signal,
      files,
    );
    return { exitCode, ...streams.written };
  };

  test("cat without a file returns its input", async () => {
    expect(await runWith(["cat"], "hello")).toEqual({ exitCode: 0, out: "hello", err: "" });
  });

  test("an archive is kept, and returned as a file and as an archive", async () => {
    const archive = writeTar([{ path: "a/b.txt", content: Buffer.from("content") }], START).toString("latin1");

    expect((await runWith(["tar", "-xmf", "-", "-C", "/data"], archive)).exitCode).toBe(0);
    expect((await runWith(["test", "-d", "/data/a"])).exitCode).toBe(0);
    expect((await runWith(["test", "-d", "/other"])).exitCode).toBe(1);
    expect((await runWith(["cat", "/data/a/b.txt"])).out).toBe("content");
    const returned = await runWith(["tar", "cf", "-", "/data/a"]);
    expect(readTar(Buffer.from(returned.out)).map(({ path, content }) => `${path} ${content.toString()}`)).toEqual([
      "data/a/b.txt content",
    ]);
  });

  test("an archive cannot leave its directory tree, and input that is none fails", async () => {
    const archive = writeTar([{ path: "../../etc/passwd", content: Buffer.from("x") }], START).toString("latin1");

    expect((await runWith(["tar", "-xmf", "-", "-C", "/data"], archive)).exitCode).toBe(0);
    expect((await runWith(["cat", "/data/etc/passwd"])).out).toBe("x");
    expect((await runWith(["tar", "-xmf", "-"], "y".repeat(1024))).exitCode).toBe(2);
    expect((await runWith(["cat", "/missing"])).exitCode).toBe(126);
  });
});

test("an archive keeps long names and many files", () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    path: `d/f${index}`,
    content: Buffer.alloc(index * 100, "x"),
  }));

  expect(readTar(writeTar(many, START)).map(({ path, content }) => [path, content.length])).toEqual(
    many.map(({ path, content }) => [path, content.length]),
  );
});
