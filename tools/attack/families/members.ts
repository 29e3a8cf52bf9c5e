/** A member that misbehaves beside one that does not (A1, and the modes that held before). */
import { setTimeout as delay } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import { notTried, verdictOf, type Attack } from "../attack.ts";
import { joinHostileMember, readyOf, type Mode } from "../hostile-member.ts";
import { eventually, must, type World } from "../world.ts";

const POLICIES = "/apis/policy.karmada.io/v1alpha1";
const WELL_BEHAVED = "member1";
/** How long another member may wait for a change; some 200 ms on a quiet machine. */
const DELIVERY_LIMIT_MS = 5_000;
const CHANGES = 8;

const isWatch = (url = ""): boolean => url.includes("watch=");
const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
const text =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Mode =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

/** Sends pieces for as long as the hub reads them. */
const endless =
  (head: string, piece: () => string): Mode =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(head);
    const more = (): void => {
      while (!response.destroyed && response.write(piece())) continue;
    };
    response.on("drain", more);
    more();
  };

let pods = 0;
function podEvent(): string {
  const name = `p${pods++}`;
  const metadata = { name, namespace: "flood", uid: `u${pods}`, resourceVersion: String(pods) };
  const spec = { containers: [{ name: "main", image: "x" }] };
  return `${JSON.stringify({ type: "ADDED", object: { apiVersion: "v1", kind: "Pod", metadata, spec } })}\n`;
}
const podEvents = (): string => Array.from({ length: 100 }, podEvent).join("");

/** Only watches misbehave. */
const onWatch =
  (mode: Mode): Mode =>
  (request, response, forward, reset) =>
    isWatch(request.url) ? mode(request, response, forward, reset) : forward();
/** Probes of the member's health are answered; nothing else is. */
const healthyOnly =
  (mode: Mode): Mode =>
  (request, response, forward, reset) =>
    /\/(readyz|healthz|livez|version)/.test(request.url ?? "") ? forward() : mode(request, response, forward, reset);

const object = (more: object): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c0", namespace: "default" },
  ...more,
});
const LEVELS = 200_000;

export const modes: Readonly<Record<string, { mode: Mode; short?: boolean }>> = {
  "errors-500": { mode: text("boom", 500) },
  "errors-503": { mode: text("{}", 503) },
  "retry-after-a-year": { mode: text("{}", 429, { "retry-after": "31536000" }) },
  unauthorized: { mode: text('{"kind":"Status","code":401}', 401) },
  forbidden: { mode: text('{"kind":"Status","code":403}', 403) },
  "not-found": { mode: text("404 page not found", 404) },
  redirect: { mode: text("", 302, { location: "https://127.0.0.1:1/" }) },
  silent: { mode: () => {} },
  "healthy-but-silent": { mode: healthyOnly(() => {}) },
  "half-an-answer": {
    mode: (_request, response) => void response.writeHead(200, { "content-length": "1000" }).write('{"kind":'),
  },
  "cut-off-answer": {
    mode: (_request, response) => {
      response.writeHead(200, { "content-length": "1000" }).write('{"kind":');
      setTimeout(() => response.destroy(), 50);
    },
  },
  garbage: { mode: text(Buffer.from([0, 255, 254, 1, 2, 3])) },
  html: { mode: text("<html>login</html>", 200, { "content-type": "text/html" }) },
  empty: { mode: text("") },
  null: { mode: text("null") },
  "a-number": { mode: text("7") },
  "wrong-types": { mode: text(JSON.stringify({ kind: 7, apiVersion: {}, metadata: "x", items: "y" })) },
  "null-items": { mode: text(JSON.stringify({ kind: "List", metadata: {}, items: [null, 7, "x", []] })) },
  "no-metadata": { mode: text(JSON.stringify({ kind: "Pod" })) },
  "wrong-kind": { mode: text(JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "x" } })) },
  polluting: {
    mode: text('{"kind":"PodList","items":[{"__proto__":{"polluted":1},"metadata":{"__proto__":{"name":"x"}}}]}'),
  },
  "deep-lists": { mode: text(`{"x":${"[".repeat(LEVELS)}${"]".repeat(LEVELS)}}`) },
  "deep-objects": { mode: text(`${'{"x":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}`) },
  "huge-headers": {
    mode: (_request, response) => void response.writeHead(200, { big: "x".repeat(1_000_000) }).end("{}"),
  },
  "many-headers": {
    mode: (_request, response) =>
      void response
        .writeHead(200, Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`h${at}`, "x"])))
        .end("{}"),
  },
  close: { mode: (_request, response) => void response.destroy() },
  reset: { mode: (_request, _response, _forward, reset) => reset() },
  drip: {
    mode: (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write(" ")), 50);
    },
  },
  slow: { mode: (_request, _response, forward) => void setTimeout(forward, 2_000) },
  "watch-garbage": { mode: onWatch(text("not json\n")) },
  "watch-bad-events": {
    mode: onWatch(text(`${JSON.stringify({ type: "ODD", object: 7 })}\n${JSON.stringify({ type: "ADDED" })}\n`)),
  },
  "watch-gone": {
    mode: onWatch(
      text(`${JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } })}\n`),
    ),
  },
  "watch-ends": { mode: onWatch(text("")) },
  "watch-bookmarks": {
    mode: onWatch(
      endless("", () =>
        `${JSON.stringify({ type: "BOOKMARK", object: { kind: "Pod", metadata: { resourceVersion: "7" } } })}\n`.repeat(
          100,
        ),
      ),
    ),
  },
  bigjson: {
    mode: endless('{"kind":"ConfigMap","metadata":{"name":"c0"},"x":[', () => "{},".repeat(20_000)),
    short: true,
  },
  "answers-of-20-mb": { mode: (_request, response) => json(response, object({ data: { a: "x".repeat(20_000_000) } })) },
  "endless-text": { mode: endless('{"kind":"ConfigMap","data":{"a":"', () => "x".repeat(60_000)) },
  "endless-list": {
    mode: endless('{"kind":"List","metadata":{},"items":[', () => `${JSON.stringify(object({}))},`.repeat(500)),
  },
  podflood: {
    mode: (request, response, forward, reset) =>
      isWatch(request.url) && request.url?.includes("/pods")
        ? endless("", podEvents)(request, response, forward, reset)
        : forward(),
    short: true,
  },
  "event-without-end": { mode: onWatch(endless('{"type":"ADDED","object":{"x":[', () => "{},".repeat(20_000))) },
};

export const members: readonly Attack[] = Object.entries(modes).map(([name, { mode, short }]) => ({
  name: `members/${name}`,
  claim: "a member that misbehaves delays neither other members nor the API",
  short,
  run: (world: World) => attackAs(world, mode),
}));

async function attackAs(world: World, mode: Mode): ReturnType<Attack["run"]> {
  const member = await joinHostileMember(world);
  const change = await createWorkload(world, member.name);
  const quiet = await timesOf(change, 2);
  member.setMode(mode);
  const during = await (world.isShort ? timesOf(change, 3) : timesOf(change, CHANGES, 500));
  const reached = member.reached();
  const ready = await readyOf(world, member.name);
  if (reached === 0)
    return notTried("changes of an object on both members", "no request reached the member in this mode");
  const failures = during
    .filter((ms) => ms > DELIVERY_LIMIT_MS)
    .map((ms) => `a change reached ${WELL_BEHAVED} after ${Math.round(ms)} ms`);
  const tried = `${during.length} changes of an object on both members; ${reached} requests reached the hostile one`;
  return verdictOf(
    tried,
    failures,
    `${WELL_BEHAVED} had each change within ${Math.round(Math.max(...during))} ms (before: ` +
      `${Math.round(Math.max(...quiet))} ms); hostile member: Ready=${ready.slice(0, 120)}`,
  );
}

/** How long each of some changes takes until the well-behaved member has it. */
async function timesOf(change: () => Promise<number>, count: number, pauseMs = 100): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    times.push(await change());
    await delay(pauseMs);
  }
  return times;
}

/** A ConfigMap on both members. The returned function changes it and waits until the well-behaved member has it. */
async function createWorkload(world: World, hostile: string): Promise<() => Promise<number>> {
  const { admin } = world;
  const namespace = await world.namespace("delivery");
  const there = world.api({ token: await world.memberToken(WELL_BEHAVED) }, { cluster: WELL_BEHAVED });
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  await must(
    admin.create(`${POLICIES}/namespaces/${namespace}/propagationpolicies`, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "both" },
      spec: {
        resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }],
        placement: { clusterAffinity: { clusterNames: [WELL_BEHAVED, hostile] } },
      },
    }),
  );
  await must(admin.create(maps, { metadata: { name: "c0" }, data: { round: "0" } }));
  world.onEnd(() => admin.delete(`/api/v1/namespaces/${namespace}`));
  let round = 0;
  const arrived = async (): Promise<true | undefined> => {
    const { status, text: body } = await there.get(`${maps}/c0`);
    return status === 200 && body.includes(`"round":"${round}"`) ? true : undefined;
  };
  if (!(await eventually(arrived, 20_000))) throw new Error(`the object did not reach ${WELL_BEHAVED}`);
  return async () => {
    const start = performance.now();
    round++;
    await must(admin.patch("merge", `${maps}/c0`, { data: { round: String(round) } }));
    await eventually(arrived, 3 * DELIVERY_LIMIT_MS);
    return performance.now() - start;
  };
}
