/** Hubs of their own that are killed, damaged or full, and their data directories (D1 to D3, A6, section 8). */
import { execFile } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  existsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "@flotilla/base";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { SOURCE, startFlotilla, type RunningFleet } from "../../bench/process.ts";
import { connectHttp1, type Api } from "../../../test/programs/raw-client.ts";
import { countStatuses, statusOf, verdictOf, type Attack } from "../attack.ts";
import { must, type World } from "../world.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const SMALL_HUB = ["--members", "0", "--log-level", "error"];
const START_LIMIT_MS = 30_000;

function temporaryData(world: World): string {
  const data = mkdtempSync(join(tmpdir(), "flotilla-attack-"));
  world.onEnd(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

async function start(world: World, data: string, port = 0, flags: readonly string[] = []): Promise<RunningFleet> {
  const fleet = await startFlotilla([...SMALL_HUB, ...flags], { data, port, limitMs: START_LIMIT_MS });
  world.onEnd(() => fleet.stop());
  return fleet;
}

async function adminOf(world: World, fleet: RunningFleet): Promise<{ api: Api; port: number }> {
  const { server, ca, token } = await connectionOf(await loadKubeconfig(fleet.kubeconfig("hub")));
  const api = connectHttp1({ server, ca, token: typeof token === "string" ? token : undefined });
  world.onEnd(() => api.close());
  return { api, port: Number(server.port) };
}

async function kill(fleet: RunningFleet): Promise<void> {
  process.kill(fleet.pid, "SIGKILL");
  await fleet.stop();
}

const earlyAnswers: Attack = {
  name: "store/early-answers",
  claim: "a hub that starts never answers 401 to a valid token (D1)",
  async run(world) {
    const data = temporaryData(world);
    const first = await start(world, data);
    const { api, port } = await adminOf(world, first);
    await must(api.get("/readyz"));
    await kill(first);
    const statuses: number[] = [];
    const started = new AbortController();
    const polling = (async () => {
      while (!started.signal.aborted) {
        const status = await statusOf(api.get("/api/v1/namespaces/default"));
        if (status !== 0) statuses.push(status);
      }
    })();
    await start(world, data, port);
    started.abort();
    await polling;
    const wrong = statuses.filter((status) => ![200, 503].includes(status));
    return verdictOf(
      "a kill -9 and a start, with requests of the administrator all the time",
      wrong.length > 0 ? [countStatuses(wrong)] : [],
      countStatuses(statuses) || "no answer before it was ready",
    );
  },
};

const damage: Attack = {
  name: "store/damage",
  claim: "a damaged store is refused, and never served (D2)",
  async run(world) {
    const data = temporaryData(world);
    const fleet = await start(world, data);
    const { api } = await adminOf(world, fleet);
    for (let index = 0; index < 200; index++)
      await must(
        api.create(CONFIG_MAPS, {
          metadata: { name: `c${index}` },
          data: { text: `value-${index}-${"x".repeat(200)}` },
        }),
      );
    await fleet.stop();
    const file = join(data, "flotilla.db");
    const intact = readFileSync(file);
    const damages: Record<string, (bytes: Buffer) => Buffer> = {
      "a flipped byte in a value": (bytes) => flip(bytes, bytes.indexOf("value-77-")),
      "100 bytes cut off": (bytes) => bytes.subarray(0, bytes.length - 100),
      "half a file": (bytes) => bytes.subarray(0, bytes.length / 2),
      "a zeroed page": (bytes) => Buffer.from(bytes).fill(0, 8_192, 12_288),
      "an empty file": () => Buffer.alloc(0),
    };
    const failures: string[] = [];
    for (const [what, change] of Object.entries(damages)) {
      writeFileSync(file, change(intact));
      const outcome = await tryStart(world, data);
      if (outcome !== "refused") failures.push(`${what}: ${outcome}`);
    }
    return verdictOf(
      `${Object.keys(damages).length} kinds of damage, each with a start`,
      failures,
      "each start was refused",
    );
  },
};

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < 0) throw new Error("the value is not in the file");
  copy[at + 3] = (copy[at + 3] ?? 0) ^ 0x01;
  return copy;
}

async function tryStart(world: World, data: string): Promise<string> {
  try {
    await (await start(world, data)).stop();
    return "started";
  } catch (error) {
    return /exited with code/.test(messageOf(error)) ? "refused" : messageOf(error);
  }
}

const fullStore: Attack = {
  name: "store/quota",
  claim: "a user who fills the store gets 507, others go on, and the hub starts again on the full store (A6)",
  async run(world) {
    const data = temporaryData(world);
    const quota = ["--store-quota", "16"];
    const fleet = await start(world, data, 0, quota);
    const { api } = await adminOf(world, fleet);
    const statuses: number[] = [];
    for (let index = 0; index < 30; index++)
      statuses.push(
        await statusOf(
          api.create(CONFIG_MAPS, { metadata: { name: `c${index}` }, data: { text: "x".repeat(1_000_000) } }),
        ),
      );
    const renewed = await statusOf(api.patch("merge", `${CONFIG_MAPS}/c0`, { metadata: { labels: { a: "b" } } }));
    await fleet.stop();
    const again = await start(world, data, 0, quota);
    const { api: after } = await adminOf(world, again);
    const [read, deleted, created] = [
      await statusOf(after.get(`${CONFIG_MAPS}/c0`)),
      await statusOf(after.delete(`${CONFIG_MAPS}/c0`)),
      await statusOf(after.create(CONFIG_MAPS, { metadata: { name: "small" } })),
    ];
    const failures = [
      ...(statuses.includes(507) ? [] : ["nothing was rejected"]),
      ...([renewed, read, deleted].every((status) => status === 200) && created === 201
        ? []
        : [`small update ${renewed}; after the start: read ${read}, delete ${deleted}, create ${created}`]),
    ];
    return verdictOf("30 ConfigMaps of 1 MB with a quota of 16 MiB, then a start", failures, countStatuses(statuses));
  },
};

const integers: Attack = {
  name: "store/integers",
  claim: "integers of 64 bits are kept or rejected, never changed (D3)",
  short: true,
  async run(world) {
    const { admin } = world;
    const name = "numbers.attack.example.com";
    await must(
      admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name },
        spec: {
          group: "attack.example.com",
          scope: "Namespaced",
          names: { plural: "numbers", singular: "number", kind: "Number" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: "object",
                  properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
                },
              },
            },
          ],
        },
      }),
    );
    world.onEnd(() => admin.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`));
    const path = "/apis/attack.example.com/v1/namespaces/default/numbers";
    while ((await admin.get(path)).status === 404) await new Promise((resolve) => setTimeout(resolve, 100));
    const failures: string[] = [];
    const seen: string[] = [];
    for (const [index, number] of ["9007199254740993", "9223372036854775807", "-9223372036854775808"].entries()) {
      const { status, text } = await admin.create(
        path,
        `{"apiVersion":"attack.example.com/v1","kind":"Number","metadata":{"name":"n${index}"},"spec":{"n":${number}}}`,
      );
      seen.push(`${number}: ${status}`);
      if (status === 201 && !text.includes(`"n":${number}`))
        failures.push(`${number} was changed: ${/"n":([^,}]*)/.exec(text)?.[1]}`);
    }
    return verdictOf("custom resources with integers beyond 2^53", failures, seen.join(", "));
  },
};

const dataDirectory: Attack = {
  name: "store/data-directory",
  claim: "files of the hub are readable by its owner only, and a directory that others may write to is refused",
  async run(world) {
    const open = [...filesIn(world.data)].filter((path) => (statSync(path).mode & 0o077) !== 0);
    const failures = open.map((path) => `others may use ${path.slice(world.data.length)}`);
    const data = temporaryData(world);
    chmodSync(data, 0o777);
    const { code } = await runFlotilla(
      ["up", "--port", "0", "--data", data, ...SMALL_HUB],
      world.isShort ? 4_000 : 8_000,
    );
    const isClosed = !existsSync(data) || (statSync(data).mode & 0o022) === 0;
    if (code === undefined && !isClosed) failures.push("a directory of mode 777 is used as it is");
    return verdictOf(
      "modes of all files, and a data directory of mode 777",
      failures,
      code === undefined ? "the directory was closed to others" : `the start ended with code ${code}`,
    );
  },
};

function* filesIn(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else yield path;
  }
}

/** The exit code; undefined if it still ran. */
function runFlotilla(args: readonly string[], limitMs: number): Promise<{ code: number | undefined }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", SOURCE, ...args],
      { timeout: limitMs },
      (error) => resolve({ code: error?.killed ? undefined : typeof error?.code === "number" ? error.code : 0 }),
    );
  });
}

export const store: readonly Attack[] = [integers, dataDirectory, earlyAnswers, damage, fullStore];
