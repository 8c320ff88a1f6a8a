// A program that may be asked to start anew once it is compiled; it prints what it is then.
import { hasLoadedCompiler, restartCompiled } from '../../../platform/process/restart-compiled.ts';

restartCompiled();
console.log(
  JSON.stringify({
    pid: process.pid,
    hasCompiler: hasLoadedCompiler(),
    arguments: [...process.execArgv, ...process.argv.slice(2)],
    environment: Object.keys(process.env),
  }),
);
