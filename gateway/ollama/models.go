package ollama

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/contract"
)

// apiVersion is the version of Ollama whose API this is. Clients compare it with what they need.
const apiVersion = "0.17.4"

func version(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"version": apiVersion})
}

// details describe a model. An agent has no weights.
type details struct {
	ParentModel       string   `json:"parent_model"`
	Format            string   `json:"format"`
	Family            string   `json:"family"`
	Families          []string `json:"families"`
	ParameterSize     string   `json:"parameter_size"`
	QuantizationLevel string   `json:"quantization_level"`
}

const family = "agent"

// moment is a time with nine digits behind the second, which some clients insist on.
type moment time.Time

// MarshalJSON implements json.Marshaler.
func (m moment) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(m).UTC().Format(`"2006-01-02T15:04:05.000000000Z07:00"`)), nil
}

var agentDetails = details{Format: family, Family: family, Families: []string{family}}

// model is an entry of a list.
type model struct {
	Name       string  `json:"name"`
	Model      string  `json:"model"`
	ModifiedAt *moment `json:"modified_at,omitempty"` // of tags
	Size       int64   `json:"size"`
	Digest     string  `json:"digest"`
	Details    details `json:"details"`
	ExpiresAt  *moment `json:"expires_at,omitempty"` // of ps
	SizeVRAM   *int64  `json:"size_vram,omitempty"`
}

type modelList struct {
	Models []model `json:"models"`
}

// list returns all models. Names have a tag, because clients add one to those that have none.
func (ep *Endpoint) list() modelList {
	out := modelList{Models: []model{}}
	for _, name := range ep.Talk.Models.Names() {
		if !strings.Contains(name, ":") {
			name += ":latest"
		}
		out.Models = append(out.Models, model{Name: name, Model: name, Digest: contract.Hash([]byte(name)), Details: agentDetails})
	}
	return out
}

// tags lists the models.
func (ep *Endpoint) tags(c echo.Context) error {
	list, since := ep.list(), moment(ep.Talk.Models.Since)
	for n := range list.Models {
		list.Models[n].ModifiedAt = &since
	}
	return c.JSON(http.StatusOK, list)
}

// processes lists the models that are loaded, which all are.
func (ep *Endpoint) processes(c echo.Context) error {
	list, end, none := ep.list(), moment(ep.Talk.Now().Add(24*time.Hour)), int64(0)
	for n := range list.Models {
		list.Models[n].ExpiresAt, list.Models[n].SizeVRAM = &end, &none
	}
	return c.JSON(http.StatusOK, list)
}

// shownModel is a model with what clients ask about it.
type shownModel struct {
	Modelfile    string         `json:"modelfile"`
	Parameters   string         `json:"parameters"`
	Template     string         `json:"template"`
	Details      details        `json:"details"`
	ModelInfo    map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
	ModifiedAt   moment         `json:"modified_at"`
}

// show replies with one model. The prompt of the agent is not shown.
func (ep *Endpoint) show(c echo.Context) error {
	var b struct {
		Model string `json:"model"`
		Name  string `json:"name"` // before model was its name
	}
	if err := bind(c.Request(), &b); err != nil {
		return err
	}
	if b.Model == "" {
		b.Model = b.Name
	}
	t, err := ep.target(b.Model)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, shownModel{
		Modelfile: "# " + t.Name + " is an agent\nFROM " + t.Name + "\n", Details: agentDetails, ModifiedAt: moment(ep.Talk.Models.Since),
		ModelInfo:    map[string]any{"general.architecture": family, "general.basename": ep.Talk.Models.Agent.Name},
		Capabilities: []string{"completion", "tools", "vision"},
	})
}
