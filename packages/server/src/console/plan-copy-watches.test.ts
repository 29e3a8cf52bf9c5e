import { describe, expect, test } from "vitest";
import { MAX_WATCHES, planCopyWatches } from "./plan-copy-watches.ts";

const members = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);

describe("the copies that are watched for rows", () => {
  test("are those of all kinds on all members", () => {
    const { watches, isComplete } = planCopyWatches(["oslo", "paris"], ["CloneSet", "Deployment"]);

    expect([...watches.keys()]).toEqual(["oslo CloneSet", "paris CloneSet", "oslo Deployment", "paris Deployment"]);
    expect(isComplete).toBe(true);
  });

  test("are complete at the limit", () => {
    expect(planCopyWatches(members(MAX_WATCHES), ["CloneSet"]).isComplete).toBe(true);
  });

  test("above the limit are the first kinds on all members, and the next one on some", () => {
    const { watches, isComplete } = planCopyWatches(members(150), ["CloneSet", "Deployment"]);

    const counts = Object.groupBy(watches.values(), ({ want }) => want);
    expect([counts["CloneSet"]?.length, counts["Deployment"]?.length, isComplete]).toEqual([150, 50, false]);
  });

  test("are the first 200 members when there are more", () => {
    const { watches } = planCopyWatches(members(1_000), ["CloneSet"]);

    expect(watches.size).toBe(MAX_WATCHES);
  });
});
