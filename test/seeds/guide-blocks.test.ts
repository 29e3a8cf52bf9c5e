/** The files of this directory are the blocks of the original guides, which `test/e2e/guide.test.ts` types. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseYamlDocuments } from "@flotilla/apimachinery";
import { guideBlocks } from "./guide-blocks.ts";

const FILES = globSync("*/{guide,introduction}-*.yaml", { cwd: import.meta.dirname }).toSorted();
/** The guides leave the name of the cluster to their reader. */
const documentsOf = (text: string): string[] =>
  parseYamlDocuments(text.replaceAll("<MANAGED_CLUSTER_NAME>", "cluster1")).map((document) => JSON.stringify(document));
const documents = new Set(
  [...guideBlocks("000"), ...guideBlocks("001")]
    .filter(({ language }) => language === "yaml")
    .flatMap(({ text }) => documentsOf(text)),
);

test("the guides have 68 blocks, named by heading and number", () => {
  const names = [...guideBlocks("000"), ...guideBlocks("001")].map(({ name }) => name);

  expect(names).toHaveLength(68);
  expect(new Set(names).size).toBe(68);
  expect(names).toContain("001 Testing & Verification 6");
});

test("a block of a list is read without its indentation", () => {
  const block = guideBlocks("001").find(({ name }) => name === "001 Verify the Status 2");

  expect(block).toMatchObject({ language: "bash", text: "kubectl get cloneset -A\n" });
});

test.for(FILES)("%s is in the guides as it is written", (file) => {
  const [document = ""] = documentsOf(readFileSync(new URL(file, import.meta.url), "utf8"));

  expect(documents).toContain(document);
});

test("every manifest of the guides has a file", () => {
  const inFiles = new Set(FILES.flatMap((file) => documentsOf(readFileSync(new URL(file, import.meta.url), "utf8"))));

  expect([...documents].filter((document) => !inFiles.has(document))).toEqual([]);
});
