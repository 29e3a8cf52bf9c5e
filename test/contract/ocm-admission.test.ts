/**
 * Requests for Open Cluster Management's kinds, with the recorded responses of a hub of version 1.2.0: same code,
 * reason and message, and the same stored object. Differences of Flotilla are listed with the reason; a test fails if a
 * listed case no longer differs.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { ocmHubKinds } from "@flotilla/ocm";
import { createTestServer, type Answered, type TestServer } from "@flotilla/testing/api-server.ts";
import { formatTime, isObject, type Json, type JsonObject, defined } from "@flotilla/base";
import {
  headersOf,
  readRecordedLines,
  testRecordings,
  type RecordedCase,
  type RecordedStep,
} from "./recorded-requests.ts";

const NAME = "a cluster whose name no namespace can have is of no use, whether it names its address or not";
const ORDER = "the server reports schema violations in random order";
const NEWER = "fields of version 1.3: there are other ways to name what is ignored";
const EXECUTOR = "the author of a template must be allowed to act as its executor, as for the works that come of it";

/** By the name of the case. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "mc bad name without configs": NAME,
  "mc long name without configs": NAME,
  "mc taint twice": "existing taints do not invalidate an update of other fields",
  "mc status bad": ORDER,
  "pl spread bad": ORDER,
  "pl wrong expression": "an expression that does not compile would take all clusters away",
  "pd with spec strict": "shorthand of guides, which a warning reports",
  "mw executor without subject": "upstream's webhook fails on it",
  "mw executor bad names": ORDER,
  "mw ignore no paths": NEWER,
  "mw ignore missing paths": NEWER,
  "rs executor without right": EXECUTOR,
  "rs executor without account": EXECUTOR,
};

const file = new URL("testdata/ocm-1.2.0.jsonl.gz", import.meta.url);
const [first = "", ...lines] = readRecordedLines(file);
const { setup } = JSON.parse(first) as { setup: Omit<RecordedStep, "answer">[] };
const cases = lines.map((line) => JSON.parse(line) as RecordedCase);

describe("Open Cluster Management's kinds are validated as on its hub", () => {
  let hub: TestServer;
  beforeAll(async () => {
    hub = await createTestServer({
      profiles: {
        hub: {
          builtIns: kubernetesKinds,
          customs: ocmHubKinds,
          objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }],
        },
      },
    });
    for (const step of setup) await ask(hub, step);
    await hub.settle();
  });
  afterAll(() => hub.server.close());

  testRecordings({
    cases,
    different: DIFFERENT,
    async play(steps) {
      const answers: Json[] = [];
      for (const step of steps) answers.push(shown(hub, step, await ask(hub, step)));
      await tidy(hub, steps);
      return answers;
    },
    answerOf: withNewerFields,
  });
});

async function ask(hub: TestServer, step: Omit<RecordedStep, "answer">): Promise<Answered> {
  const [method = "", path = ""] = step.request.split(" ");
  return hub.request(method, path, step.body, headersOf(step));
}

/** Version 1.3 has two more defaulted fields, which Flotilla serves. */
function withNewerFields({ request, answer }: RecordedStep): JsonObject {
  const { spec } = answer;
  if (!request.includes("/placements") || !isObject(spec)) return answer;
  return { ...answer, spec: { ...spec, sortBy: "ClusterName", scoreRateLimit: "1m" } };
}

/** Specs of this size are omitted from the recording. */
const LARGE = 100_000;

/** The response in the form of the recording: times are replaced by words, and common fields are omitted. */
function shown({ clock }: TestServer, { request }: RecordedStep, { status: code, body, text }: Answered): Json {
  const read = JSON.parse(text.replaceAll(`"${formatTime(clock.now())}"`, '"NOW"')) as JsonObject;
  if (body["kind"] === "Status")
    return {
      code,
      ...pick(read, "reason", "message"),
      ...defined({
        details:
          code !== 422 && isObject(read["details"]) && Object.keys(read["details"]).length > 0
            ? read["details"]
            : undefined,
      }),
    };
  if (body["kind"] === "Table")
    return { code, ...tableOf(read, request.endsWith("/manifestworks") ? OWN_COLUMNS : []) };
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = read;
  const {
    name: _name,
    namespace: _namespace,
    uid: _uid,
    resourceVersion: _revision,
    creationTimestamp: _created,
    managedFields: _managers,
    ...kept
  } = metadata as JsonObject;
  if (JSON.stringify(rest).length > LARGE) rest["spec"] = "as sent";
  return { code, metadata: kept, ...rest };
}

function pick(object: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]])));
}

/** Columns of ManifestWork, which has none upstream. */
const OWN_COLUMNS = ["Applied", "Available"];

function tableOf({ columnDefinitions, rows }: JsonObject, own: readonly string[]): JsonObject {
  const columns = columnDefinitions as { name: string; type: string; priority: number }[];
  const isTaken = (_: unknown, index: number): boolean => !own.includes(columns[index]?.name ?? "");
  return {
    columns: columns
      .filter(isTaken)
      .map(({ name, type, priority }) => [name, type, ...(priority > 0 ? ["wide"] : [])].join(" ")),
    rows: (rows as { cells: Json[] }[])
      .filter(({ cells }) => cells[0] === "t")
      .map(({ cells }) => cells.map((cell, index) => (columns[index]?.type === "date" ? "AGE" : cell)).filter(isTaken)),
  };
}

async function tidy(hub: TestServer, steps: readonly RecordedStep[]): Promise<void> {
  for (const { request, body } of steps) {
    const [method, path = ""] = request.split(" ");
    const name = (body?.["metadata"] as { name?: string } | undefined)?.name;
    if (method === "POST" && name !== undefined) await hub.request("DELETE", `${path.split("?")[0] ?? ""}/${name}`);
  }
  await hub.settle();
}
