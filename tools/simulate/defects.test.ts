import { expect, test } from "vitest";
import { defects, withDefect } from "./defects.ts";

test.each(Object.keys(defects))("the defect '%s' can be built in: its text is in the sources once", (name) => {
  expect(withDefect(name).source).toContain(defects[name]?.is);
});
