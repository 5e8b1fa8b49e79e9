/**
 * roundfold/simulator: a strict provider on this machine, to test agents against. It accepts and refuses what the real
 * ones do, in their words.
 * @module
 */
export { type Fault, type FaultName, faultKinds } from './faults.ts';
export type { Reply, ReplyPart } from './reply.ts';
export { defaultScript, type OfferedTool, type Script, type ToolKind, type Turn } from './script.ts';
export { createScript, type ScriptCall, type ScriptSettings, type ScriptStep } from './scripted.ts';
export type { RecordedRequest } from './simulator.ts';
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.ts';
