/** What an administrator does to join a member: credentials for the hub, or an agent that the hub accepts. */
import { acceptMember, joinCluster } from "@flotilla/flotilla";
import { joinPushMember } from "@flotilla/testing/fleet/join-push-member.ts";
import type { MemberOptions, SimulatedFleet } from "./simulated-fleet.ts";

const HUB = "hub";

export async function joinMember(
  { user, startAgent }: Pick<SimulatedFleet, "user" | "startAgent">,
  { name, mode }: MemberOptions,
): Promise<void> {
  const signal = new AbortController().signal;
  if (mode === "Pull") {
    await joinCluster(
      user,
      HUB,
      { name, apiEndpoint: `https://${name}.example.com`, id: `${name}-id`, syncMode: "Pull" },
      signal,
    );
    await acceptMember(user, HUB, name, signal);
    startAgent(name);
    return;
  }
  await joinPushMember(user, HUB, name);
}
