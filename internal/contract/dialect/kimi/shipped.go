package kimi

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// reach has the tools of 2.1.0 that reach something under a name of their own.
var reach = []neutral.Reach{
	{Tools: "AgentSwarm TowerSpawn TowerSend TowerMission TowerInit", What: "starts agents, or has them go on"},
	{Tools: "TowerMerge TowerTeardown", What: "merges and removes working trees of git"},
	{Tools: "CronCreate CreateGoal UpdateGoal", What: "has the agent work later, without a person"},
	{Tools: "ReadMediaFile Skill", What: "reads files"},
}

// others reach only the agent's own notes.
const others = "CronDelete CronList EnterPlanMode ExitPlanMode GetGoal NotifyUser SetGoalBudget TaskList TaskOutput TaskStop " +
	"TowerFinding TowerInbox TowerPlan TowerReview TowerStatus WaitFor"
