export { createAgent, type Agent, type AgentOptions } from "./create-agent.ts";
export type { AgentMembers } from "./members.ts";
