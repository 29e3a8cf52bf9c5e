import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CHECKS } from "./checks/index.ts";

const page = readFileSync(new URL("../../../../docs/doctor.md", import.meta.url), "utf8");

test("the guide documents every check, in report order, with the check's own text", () => {
  const sections = page.slice(page.indexOf("## The checks")).split("\n### ").slice(1);

  const described = sections.map((section) => ({
    name: section.split("\n")[0],
    text: section.split("\n\n")[2]?.trim(),
  }));
  expect(described).toEqual(CHECKS.map(({ name, reports }) => ({ name, text: reports })));
});
