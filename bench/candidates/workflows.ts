import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type * as functions from './functions.ts';

type Functions = Omit<typeof functions, 'createModelCaller'> & {
  callModel: ReturnType<typeof functions.createModelCaller>;
};
const regular = proxyActivities<Functions>({ startToCloseTimeout: '1 minute' });
const local = proxyLocalActivities<Functions>({ startToCloseTimeout: '1 minute' });

/** Runs the three functions, each as a regular activity. */
export async function threeActivities(message: string): Promise<string> {
  return regular.passOn(await regular.shout(await regular.forward(message)));
}

/** Runs the three functions, each as a local activity. */
export async function threeLocalActivities(message: string): Promise<string> {
  return local.passOn(await local.shout(await local.forward(message)));
}

/** Makes three model calls, each as a regular activity. */
export async function threeModelCalls(message: string): Promise<string> {
  return regular.callModel(await regular.callModel(await regular.callModel(message)));
}

/** Makes three model calls, each as a local activity. */
export async function threeLocalModelCalls(message: string): Promise<string> {
  return local.callModel(await local.callModel(await local.callModel(message)));
}

/** Does nothing: the smallest possible execution. */
export async function empty(): Promise<string> {
  return '';
}
