/**
 * Finds what would make two runs of one seed differ: time, chance, disk and network that do not come through `Clock`,
 * `Random`, `Engine` and `Transport` (docs/adr/0118). A file that owns an edge to them is listed with its reason; an
 * entry that is no longer needed is a finding, too.
 */
import type { SourceFile } from "./sources.ts";

/** The packages that the simulation runs, and the roles that it is composed of. */
const DETERMINISTIC =
  /^packages\/(?:(?:apimachinery|apiserver|argo|base|cel|client|controller-runtime|flotilla|karmada|kubernetes|lua|ocm|openkruise|simulation)\/src|server\/src\/roles)\/.*\.ts$/;
const TESTS = /\.test\.ts$|\/testdata\/|\/test-[a-z-]+\.ts$/;

const LEAKS: readonly { name: string; pattern: RegExp }[] = [
  { name: "Date.now", pattern: /\bDate\.now\b/ },
  { name: "new Date()", pattern: /\bnew Date\(\)/ },
  { name: "Math.random", pattern: /\bMath\.random\b/ },
  { name: "performance.now", pattern: /\bperformance\.now\b/ },
  { name: "setTimeout", pattern: /\b(?:setTimeout|setInterval)\(/ },
  { name: "AbortSignal.timeout", pattern: /\bAbortSignal\.timeout\(/ },
  {
    name: "random of node:crypto",
    pattern: /\b(?:randomUUID|randomBytes|randomFill|randomFillSync|randomInt|getRandomValues)\(/,
  },
  { name: "keys of node:crypto", pattern: /\bgenerateKeyPair(?:Sync)?\(/ },
];
const MODULE =
  /^import (?!type)(?:([\w*\s]+?)|(?:\w+, )?\{([^}]*)\}) from "node:(fs|fs\/promises|net|http|http2|https|tls|dgram|dns|os|child_process|worker_threads|timers\/promises)";/gm;
/** What these modules compute without asking the machine. */
const PURE = new Set(["isIP", "isIPv4", "isIPv6", "BlockList", "setImmediate"]);

interface Exception {
  /** What the path begins with. */
  path: string;
  leaks: readonly string[];
  why: string;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    path: "packages/base/src/clock.ts",
    leaks: ["Date.now", "setTimeout", "performance.now"],
    why: "the clock of the machine",
  },
  { path: "packages/base/src/random.ts", leaks: ["Math.random", "random of node:crypto"], why: "the machine's chance" },
  { path: "packages/base/src/process-metrics.ts", leaks: ["node:fs"], why: "metrics of this process" },
  { path: "packages/base/src/program-version.ts", leaks: ["node:fs"], why: "a file of the program" },
  { path: "packages/apimachinery/src/kind/facts.ts", leaks: ["node:fs"], why: "files of the program" },
  {
    path: "packages/apimachinery/src/pki/",
    leaks: ["keys of node:crypto", "random of node:crypto", "node:fs/promises"],
    why: "keys and certificates are made and kept by processes that serve a network",
  },
  { path: "packages/flotilla/src/agent/credentials/", leaks: ["keys of node:crypto"], why: "an agent's own key" },
  {
    path: "packages/apiserver/src/encryption/",
    leaks: ["random of node:crypto"],
    why: "keys and nonces must be strong; encryption wraps an engine of a process",
  },
  {
    path: "packages/apiserver/src/clusters/tenant-addresses.ts",
    leaks: ["node:os"],
    why: "the addresses of this machine",
  },
  {
    path: "packages/apiserver/src/http/",
    leaks: ["node:http2", "node:net"],
    why: "the network side of the API server",
  },
  { path: "packages/apiserver/src/store/grpc/", leaks: ["node:http2", "node:net"], why: "the connection to etcd" },
  { path: "packages/apiserver/src/store/private-files.ts", leaks: ["node:fs"], why: "files of the disk engine" },
  { path: "packages/apiserver/src/store/sqlite-", leaks: ["node:fs", "node:worker_threads"], why: "the disk engine" },
  {
    path: "packages/client/src/",
    leaks: [
      "node:dns",
      "node:child_process",
      "node:http2",
      "node:https",
      "node:tls",
      "node:net",
      "node:fs",
      "node:fs/promises",
      "setTimeout",
    ],
    why: "the network side of Transport and of webhooks, and kubeconfig files",
  },
  {
    path: "packages/flotilla/src/rollout/gates/ask-http.ts",
    leaks: ["node:https"],
    why: "gates ask a URL; tests pass another function",
  },
  {
    path: "packages/flotilla/src/interpreter/scripts/",
    leaks: ["performance.now", "node:worker_threads"],
    why: "limits of CPU time of users' scripts, which run apart when they exceed them",
  },
  { path: "packages/lua/src/call-state.ts", leaks: ["performance.now"], why: "the limit of CPU time of a script" },
  { path: "packages/apiserver/src/serve/handler.ts", leaks: ["performance.now"], why: "a metric" },
  { path: "packages/apiserver/src/policies/", leaks: ["performance.now"], why: "metrics" },
  { path: "packages/controller-runtime/src/controller-runner.ts", leaks: ["performance.now"], why: "a metric" },
  { path: "packages/flotilla/src/monitoring/pipeline-meter.ts", leaks: ["performance.now"], why: "metrics" },
  {
    path: "packages/apiserver/src/serve/",
    leaks: ["performance.now", "setTimeout"],
    why: "large requests of users take turns by the time that they use the event loop",
  },
];

export interface Leak {
  path: string;
  line: number;
  name: string;
}

export function findLeaks({ path, text }: SourceFile): Leak[] {
  if (!DETERMINISTIC.test(path) || TESTS.test(path)) return [];
  const lines = text.split("\n");
  const leaks = lines.flatMap((line, index): Leak[] =>
    /^\s*(?:\*|\/\/|\/\*\*)/.test(line)
      ? []
      : LEAKS.filter(({ pattern }) => pattern.test(line)).map(({ name }) => ({ path, line: index + 1, name })),
  );
  for (const { index, 1: whole, 2: names, 3: module = "" } of text.matchAll(MODULE)) {
    const used = (names ?? whole ?? "").split(",").map((name) => name.trim().split(" as ")[0] ?? "");
    if (used.some((name) => name !== "" && !name.startsWith("type ") && !PURE.has(name)))
      leaks.push({ path, line: text.slice(0, index).split("\n").length, name: `node:${module}` });
  }
  return leaks;
}

export function checkDeterminism(sources: readonly SourceFile[]): string[] {
  const leaks = sources.flatMap(findLeaks);
  const isExcepted = ({ path, name }: Leak): boolean =>
    EXCEPTIONS.some((exception) => path.startsWith(exception.path) && exception.leaks.includes(name));
  const unused = EXCEPTIONS.flatMap((exception) =>
    exception.leaks
      .filter((name) => !leaks.some((leak) => leak.name === name && leak.path.startsWith(exception.path)))
      .map(
        (name) =>
          `${exception.path} has no ${name} any more: remove it from the exceptions in tools/check/determinism.ts`,
      ),
  );
  return [
    ...leaks
      .filter((leak) => !isExcepted(leak))
      .map(
        ({ path, line, name }) =>
          `${path}:${line}: ${name} makes two runs of one seed differ; use Clock, Random, Engine or Transport, ` +
          "or list the file with its reason in tools/check/determinism.ts",
      ),
    ...unused,
  ];
}
