import { expect, test } from "vitest";
import { checkWords } from "./words.ts";

/** A case: this file is checked. */
function reported(what: string, path: string): Record<string, { path: string; text: string; want: string[] }> {
  return { [`${what} is checked`]: { path, text: "told\n", want: [`${path}:1: "told" is not a word that we use`] } };
}

const cases: Record<string, { path: string; text: string; want: string[] }> = {
  "plain text passes": {
    path: "packages/base/src/a.ts",
    text: "/** Reports a failure; the newsreader is hostile. */\n",
    want: [],
  },
  "a forbidden word in a comment is reported with its line": {
    path: "packages/base/src/a.ts",
    text: "const x = 1;\n/** Whoever waits is retried. */\n",
    want: ['packages/base/src/a.ts:2: "Whoever" is not a word that we use'],
  },
  "a forbidden word in a string is reported": {
    path: "packages/cli/src/a.ts",
    text: 'throw new Error("nobody answered");\n',
    want: ['packages/cli/src/a.ts:1: "nobody" is not a word that we use'],
  },
  "a forbidden word in a test title is reported": {
    path: "test/e2e/a.test.ts",
    text: 'test("the hub is told", () => {});\n',
    want: ['test/e2e/a.test.ts:1: "told" is not a word that we use'],
  },
  "identifiers are split into words": {
    path: "tools/a.ts",
    text: "tellFailure(TOLD_AT, isNews);\n",
    want: ["tell", "TOLD", "News"].map((word) => `tools/a.ts:1: "${word}" is not a word that we use`),
  },
  "identifiers that contain a phrase are reported": {
    path: "tools/a.ts",
    text: "const isUnderWay = lanes.MAX_UNDER_WAY > podsTakenBack.underway;\n",
    want: ["underway", "isUnderWay", "MAX_UNDER_WAY", "podsTakenBack"].map(
      (found) => `tools/a.ts:1: "${found}" is not a word that we use`,
    ),
  },
  "a phrase that begins in one identifier and ends in another passes": {
    path: "tools/a.ts",
    text: "// The policy of the webhook is NoOpinion.\n",
    want: [],
  },
  "phrases are reported": {
    path: "docs/a.md",
    text: "The flag is there or not. A made-up name, held against the list.\n",
    want: ["made-up", "is there or not", "held against"].map(
      (phrase) => `docs/a.md:1: "${phrase}" is not a word that we use`,
    ),
  },
  "phrases that sound translated are reported": {
    path: "docs/a.md",
    text: "It swings to and fro. The value is no number. The hub cannot be asked. Pods are taken back.\n",
    want: ["to and fro", "cannot be asked", "taken back", "is no number"].map(
      (phrase) => `docs/a.md:1: "${phrase}" is not a word that we use`,
    ),
  },
  "a motion for a change of state, and a way for an order, are reported": {
    path: "docs/a.md",
    text: "It goes away. A call is under way, or on its way. Clients do it the other way round. The image of before.\n",
    want: ["goes", "under way", "on its way", "way round", "image of before"].map(
      (phrase) => `docs/a.md:1: "${phrase}" is not a word that we use`,
    ),
  },
  "a number of ways passes": {
    path: "docs/a.md",
    text: "It can be set in two ways, in the same way. One way to run a hub.\n",
    want: [],
  },
  "the absence of something, a comparison and an end pass": {
    path: "docs/a.md",
    text: "There is no hub. It is no longer ready, and is no more exact than before.\n",
    want: [],
  },
  "a code of the unpublished specification is reported": {
    path: "packages/apiserver/src/store/a.test.ts",
    text: 'test("LW-5: a watch resumes", () => {});\n',
    want: ['packages/apiserver/src/store/a.test.ts:1: "LW-5" is not a word that we use'],
  },
  "names of standards pass": { path: "packages/base/src/a.ts", text: "// UTF-8, SHA-256, DNS-1123, FNV-1\n", want: [] },
  "recordings and generated tables are exempt": {
    path: "packages/apimachinery/src/kind/facts/a.ts",
    text: "// told\n",
    want: [],
  },
  "an answer that was recorded from upstream is exempt": {
    path: "test/e2e/karmadactl-steps.ts",
    text: '{ run: "get deployments -n shop --operation-scope nobody" },\n',
    want: [],
  },
  "the words of generations and snapshots are reported, and longer words pass": {
    path: "packages/flotilla/src/a.ts",
    text: "const era = fleetSight(camera, insight);\n",
    want: ["era", "Sight"].map((word) => `packages/flotilla/src/a.ts:1: "${word}" is not a word that we use`),
  },
  ...reported("a document of a tool", "tools/facts/README.md"),
  ...reported("a document of a package", "packages/ocm/README.md"),
  ...reported("a document of the repository", "CONTRIBUTING.md"),
  ...reported("a manifest", "examples/shop/shop.yaml"),
  ...reported("a manifest for tests", "test/e2e/testdata/karmadactl/manifests/web.yml"),
  ...reported("an alert", "monitoring/alerts.yaml"),
  ...reported("the dashboard", "monitoring/dashboard.json"),
  ...reported("a view of the web UI", "packages/web/ui/views/a.tsx"),
  ...reported("the notes of the chart", "deploy/chart/templates/NOTES.txt"),
  ...reported("the script of the CI", ".ci/run"),
  ...reported("a command without a suffix", "bin/flotilla"),
  "other JSON is not checked": { path: "test/contract/karmadactl-join.json", text: "told\n", want: [] },
};
for (const [behaviour, { path, text, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(checkWords([{ path, text }])).toEqual(want);
  });
}
