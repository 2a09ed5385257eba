export { type Calibration, calibrate, type FittedProfile } from './calibrate.js';
export { type CsvRow, type CsvTable, parseCsv } from './csv.js';
export type { Experiment, Parameter, SkippedValues, TableReading, TimeModel } from './experiment.js';
export { type FitOptions, fitParameters, toldParameters } from './fit.js';
export { foreignReaders } from './foreign/registry.js';
export { type BenchmarkShape, balancedLoads, loadsOf, powerLawLoads } from './loads.js';
export { type MeasurementFile, type Measurements, measurementsIn } from './measurements.js';
export {
  collectiveModel,
  type Exchange,
  exchangeNs,
  type LinkParameters,
  linkMaker,
  lowLatencyModel,
} from './models/link-model.js';
export { distinctGroups } from './occupancy.js';
export { type ExchangeCase, type ExchangeKernel, type LinkCosts, linkCosts } from './profiles/link-costs.js';
export type { LinkProfile } from './profiles/link-profile.js';
export { linkProfiles } from './profiles/link-profile-data.js';
export { type ShippedValues, shippedValues } from './profiles/shipped.js';
export {
  type LeaveOutScore,
  type ProfileScore,
  type RepeatScore,
  type ScoredRow,
  type ScoreOptions,
  scoreTables,
  type TableScore,
} from './score.js';
export { shippedTables } from './shipped/registry.js';
export { type ErrorSummary, median, quantile, summarise } from './statistics.js';
export { type SystemFigures, systemFigures, USUAL_SM_COUNT } from './systems.js';
export { workingUnits } from './tables/low-latency.js';
export { tableReaders } from './tables/registry.js';
