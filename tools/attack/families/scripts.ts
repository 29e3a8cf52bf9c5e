/** Code and schemas of users that the hub runs: Lua rules, CEL rules, patterns, schemas (A5 and its neighbours). */
import { setTimeout as delay } from "node:timers/promises";
import { countStatuses, runAttempts, statusOf, verdictOf, type Attack, type Attempt } from "../attack.ts";
import { must, type World } from "../world.ts";

const CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LONG = "local s = ('%900000d'):format(1)";
const bombs: Record<string, string> = {
  "a set of 900,000 characters": "(' '):find('['..('%900000d'):format(1)..']')",
  "a pattern of 900,000 characters": `${LONG} (' '):find(s)`,
  "65,000 sets": "local t = {} for i = 1, 65000 do t[i] = '[ab]' end (' '):find(table.concat(t))",
  "a long numeral":
    "local s = '0' for i = 1, 19 do s = s .. s end local n = pcall(function() return (s .. '!') + 1 end)",
  "an endless loop": "while true do end",
  "an endless loop inside pcall": "while true do pcall(function() while true do end end) end",
  "a string that doubles": "local s = 'x' while true do s = s .. s end",
  "a pattern that backtracks": "('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'):find('a*a*a*a*a*a*a*a*b')",
  "a sort that never agrees":
    "local t = {} for i = 1, 100000 do t[i] = i end table.sort(t, function() return true end)",
  "a table bomb": "local t = {} while true do t[#t + 1] = {} end",
};
const escapes: readonly string[] = [
  "require('fs')",
  "require('child_process')",
  "io.open('/etc/passwd')",
  "os.execute('id')",
  "loadstring('return 1')()",
  "('').constructor.constructor('return process')()",
  "getmetatable('').__index.constructor",
  "string.format('%s', process.env)",
  "globalThis.process.exit()",
  "debug.getregistry()",
];

const rule = (
  name: string,
  script: string,
  operation: "healthInterpretation" | "replicaResource" = "healthInterpretation",
): object => ({
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name },
  spec: {
    target: { apiVersion: "attack.example.com/v1", kind: "Bomb" },
    customizations: { [operation]: { luaScript: script } },
  },
});

const dryRuns: Attack = {
  name: "scripts/dry-run",
  claim: "a script at the top level of a rule cannot stall the hub, also not in a dry run (A5)",
  short: true,
  async run({ admin, isShort }) {
    const statuses: number[] = [];
    const chosen = Object.entries(bombs).slice(0, isShort ? 5 : undefined);
    for (const [, bomb] of chosen)
      statuses.push(
        await statusOf(
          admin.create(
            `${CUSTOMIZATIONS}?dryRun=All`,
            rule("bomb", `${bomb}\nfunction InterpretHealth(o) return true end`),
          ),
        ),
      );
    return verdictOf(`${chosen.length} scripts at the top level, as dry runs`, [], countStatuses(statuses));
  },
};

const escaping: Attack = {
  name: "scripts/escapes",
  claim: "a script reaches nothing outside of it",
  short: true,
  async run(world) {
    const failures: string[] = [];
    const statuses: number[] = [];
    for (const escape of escapes) {
      const answer = await world.admin.create(
        `${CUSTOMIZATIONS}?dryRun=All`,
        rule("escape", `local x = ${escape}\nfunction InterpretHealth(o) return true end`),
      );
      statuses.push(answer.status);
      if (/uid=|root:|node_modules/.test(answer.text)) failures.push(`${escape}: ${answer.text.slice(0, 100)}`);
    }
    return verdictOf(`${escapes.length} escapes`, failures, countStatuses(statuses));
  },
};

const running: Attack = {
  name: "scripts/running",
  claim: "a rule that never ends cannot stall the hub when it runs (A5)",
  async run(world) {
    const { admin } = world;
    const namespace = await world.namespace("bombs");
    await installBombKind(world);
    await must(
      admin.create(
        CUSTOMIZATIONS,
        rule(
          "running-bomb",
          `function InterpretHealth(o) ${bombs["a set of 900,000 characters"]} while true do end end`,
        ),
      ),
    );
    world.onEnd(() => admin.delete(`${CUSTOMIZATIONS}/running-bomb`));
    const statuses: number[] = [];
    for (let index = 0; index < 20; index++)
      statuses.push(
        await statusOf(
          admin.create(`/apis/attack.example.com/v1/namespaces/${namespace}/bombs`, {
            apiVersion: "attack.example.com/v1",
            kind: "Bomb",
            metadata: { name: `b${index}` },
            spec: { replicas: 1 },
          }),
        ),
      );
    await must(
      admin.create(`/apis/policy.karmada.io/v1alpha1/namespaces/${namespace}/propagationpolicies`, {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "PropagationPolicy",
        metadata: { name: "bombs" },
        spec: {
          resourceSelectors: [{ apiVersion: "attack.example.com/v1", kind: "Bomb" }],
          placement: { clusterAffinity: { clusterNames: ["member1"] } },
        },
      }),
    );
    await delay(10_000);
    await admin.delete(`/api/v1/namespaces/${namespace}`);
    return verdictOf("20 objects of a kind whose health rule never ends, propagated", [], countStatuses(statuses));
  },
};

async function installBombKind({ admin, memberToken, api, onEnd }: World): Promise<void> {
  const there = api({ token: await memberToken("member1") }, { cluster: "member1" });
  const crd = definition("bombs", "Bomb", { type: "object", "x-kubernetes-preserve-unknown-fields": true });
  for (const client of [admin, there]) {
    await must(client.create(CRDS, crd));
    onEnd(() => client.delete(`${CRDS}/bombs.attack.example.com`));
  }
  await delay(1_000);
}

const definition = (plural: string, kind: string, spec: object): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.attack.example.com` },
  spec: {
    group: "attack.example.com",
    scope: "Namespaced",
    names: { plural, singular: kind.toLowerCase(), kind },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      },
    ],
  },
});

const CEL = [
  "self.items.all(a, self.items.all(b, self.items.all(c, self.items.all(d, a + b + c + d != 'x'))))",
  "self.items.map(a, self.items.map(b, a + b)).size() > 0",
  "self.text.replace('a', self.text.replace('a', self.text)).size() > 0",
  "self.text.matches('(a+)+$')",
  "self.items.exists(a, a.matches('(a|aa)+$'))",
];
const PATTERNS = [
  "(a+)+$",
  "(a|aa)+$",
  "(.*a){25}",
  "([a-z]+)*x",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(x+x+)+y",
  "(a*)*b",
  "((a{1,100}){1,100}){1,100}",
  "(?:a|a|a|a|a)*c",
];

const rulesOfKinds: Attack = {
  name: "scripts/cel-and-patterns",
  claim: "CEL rules and patterns that take exponential time are rejected or bounded",
  short: true,
  async run(world) {
    const { admin, isShort } = world;
    const namespace = await world.namespace("cel");
    const text = "a".repeat(30_000);
    const specs = [
      ...CEL.map((cel) => ({
        type: "object",
        properties: { text: { type: "string" }, items: { type: "array", items: { type: "string" } } },
        "x-kubernetes-validations": [{ rule: cel }],
      })),
      ...PATTERNS.map((pattern) => ({ type: "object", properties: { text: { type: "string", pattern } } })),
    ];
    const statuses: number[] = [];
    for (const [index, spec] of (isShort ? specs.slice(0, 3) : specs).entries()) {
      const plural = `rules${index}s`;
      const made = await statusOf(admin.create(CRDS, definition(plural, `Rules${index}`, spec)));
      statuses.push(made);
      if (made !== 201) continue;
      world.onEnd(() => admin.delete(`${CRDS}/${plural}.attack.example.com`));
      await delay(300);
      statuses.push(
        await statusOf(
          admin.create(`/apis/attack.example.com/v1/namespaces/${namespace}/${plural}`, {
            apiVersion: "attack.example.com/v1",
            kind: `Rules${index}`,
            metadata: { name: "x" },
            spec: { text, items: Array(200).fill("a".repeat(50)) },
          }),
        ),
      );
    }
    const odd = statuses.filter((status) => status >= 500);
    return verdictOf(
      `${CEL.length} CEL rules and ${PATTERNS.length} patterns, each with a hostile object`,
      odd.length > 0 ? [countStatuses(odd)] : [],
      countStatuses(statuses),
    );
  },
};

const manyBranches: Attack = {
  name: "scripts/any-of",
  claim: "a schema with thousands of alternatives and an object with hundreds of items delay no other client",
  async run(world) {
    const { admin } = world;
    const namespace = await world.namespace("schemas");
    const branches = Array.from({ length: 12_000 }, (_, index) => ({ required: [`f${index}`] }));
    const spec = {
      type: "object",
      properties: {
        items: {
          type: "array",
          items: { type: "object", "x-kubernetes-preserve-unknown-fields": true, anyOf: branches },
        },
      },
    };
    const made = await statusOf(admin.create(CRDS, definition("branches", "Branch", spec)));
    if (made === 201) world.onEnd(() => admin.delete(`${CRDS}/branches.attack.example.com`));
    await delay(1_000);
    const statuses: number[] = [];
    const rounds = made === 201 ? 5 : 0;
    for (let round = 0; round < rounds; round++)
      statuses.push(
        await statusOf(
          admin.create(`/apis/attack.example.com/v1/namespaces/${namespace}/branches?dryRun=All`, {
            apiVersion: "attack.example.com/v1",
            kind: "Branch",
            metadata: { name: "x" },
            spec: { items: Array.from({ length: 500 }, () => ({ a: 1 })) },
          }),
        ),
      );
    return verdictOf(
      "a schema with 12,000 branches, and objects with 500 items",
      [],
      `the definition: ${made}; objects: ${countStatuses(statuses)}`,
    );
  },
};

const manyProperties: Attack = {
  name: "scripts/properties",
  claim: "a definition with many properties delays no other client, also in /openapi",
  async run(world) {
    const { admin } = world;
    const properties = Object.fromEntries(
      Array.from({ length: 9_900 }, (_, index) => [`p${index}`, { type: "string" }]),
    );
    const made = await statusOf(admin.create(CRDS, definition("wides", "Wide", { type: "object", properties })));
    if (made === 201) world.onEnd(() => admin.delete(`${CRDS}/wides.attack.example.com`));
    await delay(1_000);
    const attempts: Attempt[] = [
      "/openapi/v2",
      "/openapi/v3",
      "/openapi/v3/apis/attack.example.com/v1",
      "/openapi/v2",
    ].map((path) => ({ what: path, send: () => admin.get(path), expected: [200, 404] }));
    const read = await runAttempts("", attempts);
    return { ...read, tried: `a definition with 9,900 properties (${made}), then /openapi` };
  },
};

export const scripts: readonly Attack[] = [dryRuns, escaping, running, rulesOfKinds, manyBranches, manyProperties];
