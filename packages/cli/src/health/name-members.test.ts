import { expect, test } from "vitest";
import { joinCauses, nameMembers } from "./name-members.ts";

test("a few members are named, and the others are counted", () => {
  expect(nameMembers(["m1", "m2", "m3"])).toBe("m1, m2, m3");
  expect(nameMembers(["m1", "m2", "m3", "m4", "m5"])).toBe("m1, m2, m3 and 2 more");
  expect(nameMembers(["m1", "m1", "m2", "m2", "m3"])).toBe("m1, m2, m3");
});

test("several causes begin with their members", () => {
  expect(joinCauses(["m1", "m2"], ["m1: no Secret", "m2: quota"], 3)).toBe(
    "2 members (m1, m2): m1: no Secret; m2: quota",
  );
});

test("joined causes do not start with a list of members if there is one cause or one member", () => {
  expect(joinCauses(["m1", "m2"], ["m1, m2: quota"], 3)).toBe("m1, m2: quota");
  expect(joinCauses(["m1"], ["m1: no Secret", "m1: quota"], 3)).toBe("m1: no Secret; m1: quota");
});

test("causes beyond the limit are counted instead of listed", () => {
  expect(joinCauses(["m1", "m2", "m3"], ["m1: a", "m2: b", "m3: c"], 1)).toBe(
    "3 members (m1, m2, m3): m1: a; and 2 other causes",
  );
});
